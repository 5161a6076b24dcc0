package frameworks;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.util.thread.Invocable;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.strategy.AdaptiveExecutionStrategy;

/** Jetty's pool: bare Runnables, and asynchronous suppliers that are given to it; and what its selector produces and runs in place. */
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
        AtomicInteger produced = new AtomicInteger();
        Runnable stage = Invocable.from(Invocable.InvocationType.NON_BLOCKING, Jetty::stage);
        var strategy = new AdaptiveExecutionStrategy(() -> produced.incrementAndGet() > Work.TASKS ? null : stage, pool);
        strategy.start();
        strategy.produce();
        strategy.stop();
        pool.stop();
        System.out.println(pool.isStopped());
    }

    private static void stage() {
        Work.spin();
    }
}
