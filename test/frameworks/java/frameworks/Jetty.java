package frameworks;

import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Jetty's pool: bare Runnables, and asynchronous suppliers that are given to it. */
public final class Jetty {
    public static void main(String[] arguments) throws Exception {
        QueuedThreadPool pool = new QueuedThreadPool(6, 2);
        pool.setReservedThreads(0);
        pool.start();
        Work.executeAll(pool);
        for (int i = 0; i < Work.TASKS; i++) {
            CompletableFuture.supplyAsync(() -> {
                Work.spin();
                return 1;
            }, pool).join();
        }
        pool.stop();
        System.out.println(pool.isStopped());
    }
}
