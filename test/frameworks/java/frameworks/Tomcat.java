package frameworks;

import java.util.concurrent.TimeUnit;
import org.apache.tomcat.util.threads.TaskQueue;
import org.apache.tomcat.util.threads.TaskThreadFactory;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/** Tomcat's own pool, as its connectors use it: bare Runnables and its queue, which makes threads before it fills. */
public final class Tomcat {
    public static void main(String[] arguments) throws Exception {
        TaskQueue queue = new TaskQueue();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 4, 60, TimeUnit.SECONDS, queue, new TaskThreadFactory("exec-", true, 5));
        queue.setParent(pool);
        Work.executeAll(pool);
        for (int i = 0; i < Work.TASKS; i++) {
            pool.submit(Work::spin).get();
        }
        pool.shutdown();
        System.out.println(pool.awaitTermination(10, TimeUnit.SECONDS));
    }
}
