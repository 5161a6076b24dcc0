package frameworks;

import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/** Quartz's own pool puts a Runnable into a field of a thread that waits, and has no queue: its jobs are not seen as tasks. */
public final class Quartz {
    private static final CountDownLatch done = new CountDownLatch(Work.TASKS);

    public static final class Spin implements Job {
        @Override
        public void execute(JobExecutionContext context) {
            Work.spin();
            done.countDown();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("org.quartz.threadPool.threadCount", "2");
        properties.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
        Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
        for (int i = 0; i < Work.TASKS; i++) {
            scheduler.scheduleJob(JobBuilder.newJob(Spin.class).withIdentity("spin" + i).build(), TriggerBuilder.newTrigger().startNow().build());
        }
        scheduler.start();
        done.await();
        scheduler.shutdown(true);
        System.out.println(done.getCount());
    }
}
