package frameworks;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/** What the tasks of these programs do. */
final class Work {
    static final int TASKS = 40;
    static volatile long sink;

    private Work() {}

    static void spin() {
        long x = sink;
        for (int i = 0; i < 20_000; i++) {
            x = x * 6364136223846793005L + i;
        }
        sink = x;
    }

    /** Hands over TASKS bare Runnables and returns when all have run. */
    static void executeAll(Executor executor) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(TASKS);
        for (int i = 0; i < TASKS; i++) {
            executor.execute(() -> {
                spin();
                done.countDown();
            });
        }
        done.await();
    }
}
