package programs;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** get with a time limit that passes three times before the result is there. */
public final class TimedGet {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    CountDownLatch gate = new CountDownLatch(1);
    Future<Integer> future = pool.submit(() -> {
      gate.await();
      return 42;
    });
    int timeouts = 0;
    for (int i = 0; i < 3; i++) {
      try {
        future.get(4, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        timeouts++;
      }
    }
    gate.countDown();
    int result = future.get(60, TimeUnit.SECONDS);
    Facts.finish(pool);
    Facts.print("tasks", 1, "ends", 1, "waits", 4, "timeouts", timeouts, "result", result);
  }
}
