package unseen;

import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDataMap;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/** Quartz: forty jobs that are due at once, on its own pool of two threads. Twins: four and eight threads. */
public final class Nightly {
  private static final int JOBS = 40;
  private static final CountDownLatch done = new CountDownLatch(JOBS);
  private static final AtomicLong sum = new AtomicLong();

  public static final class Report implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      sum.addAndGet(written(context.getMergedJobDataMap().getInt("number")));
      done.countDown();
    }
  }

  public static void main(String[] arguments) throws SchedulerException, InterruptedException {
    Properties properties = new Properties();
    properties.setProperty("org.quartz.threadPool.threadCount", Integer.toString(Stopwatch.size(arguments, 2)));
    properties.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
    properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
    Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
    for (int number = 0; number < JOBS; number++) {
      JobDataMap data = new JobDataMap();
      data.put("number", number);
      scheduler.scheduleJob(JobBuilder.newJob(Report.class).withIdentity("report" + number).usingJobData(data).build(),
          TriggerBuilder.newTrigger().startNow().build());
    }
    Stopwatch watch = new Stopwatch();
    scheduler.start();
    done.await();
    watch.print(sum.get());
    scheduler.shutdown(true);
  }

  private static int written(int number) {
    try {
      Thread.sleep(20 + number % 9);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int lines = number;
    for (int i = 0; i < 100_000; i++) {
      lines = lines * 31 + i;
    }
    return lines & 0xFF;
  }
}
