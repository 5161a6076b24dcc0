package frameworks;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jboss.threads.EnhancedQueueExecutor;

/** The pool below Undertow and Quarkus. */
public final class Jboss {
    public static void main(String[] arguments) throws Exception {
        EnhancedQueueExecutor pool = new EnhancedQueueExecutor.Builder().setCorePoolSize(2).setMaximumPoolSize(3).build();
        Work.executeAll(pool);
        for (int i = 0; i < Work.TASKS; i++) {
            pool.submit(Work::spin).get();
        }
        for (int i = 0; i < Work.TASKS; i++) {
            CompletableFuture.runAsync(Work::spin, pool).join();
        }
        pool.shutdown();
        System.out.println(pool.awaitTermination(10, TimeUnit.SECONDS));
    }
}
