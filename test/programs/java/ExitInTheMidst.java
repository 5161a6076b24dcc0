package programs;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/** System.exit by main while workers are in the middle of their tasks and others are queued. */
public final class ExitInTheMidst {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    CountDownLatch started = new CountDownLatch(4);
    for (int i = 0; i < 20; i++) {
      pool.execute(() -> {
        started.countDown();
        LockSupport.parkNanos(60_000_000_000L);
      });
    }
    started.await();
    Facts.print("tasks", 20, "starts", 4, "ends", 0, "workers", 4);
    System.exit(3);
  }
}
