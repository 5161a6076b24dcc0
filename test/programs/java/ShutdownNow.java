package programs;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** shutdownNow with one task running, which is interrupted, and five queued, which never run. */
public final class ShutdownNow {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    CountDownLatch busy = new CountDownLatch(1);
    AtomicInteger interrupted = new AtomicInteger();
    pool.submit(() -> {
      busy.countDown();
      try {
        Thread.sleep(60_000);
      } catch (InterruptedException e) {
        interrupted.incrementAndGet();
      }
    });
    busy.await();
    for (int i = 0; i < 5; i++) {
      pool.submit(() -> 1);
    }
    List<Runnable> left = pool.shutdownNow();
    Facts.finish(pool);
    Facts.print("tasks", 6, "starts", 1, "ends", 1, "never_run", left.size(), "interrupted", interrupted.get());
  }
}
