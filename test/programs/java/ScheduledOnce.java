package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Twelve one-shot tasks of a scheduled pool, with delays in descending order. */
public final class ScheduledOnce {
  public static void main(String[] arguments) throws Exception {
    ScheduledExecutorService pool = Executors.newScheduledThreadPool(2);
    List<ScheduledFuture<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      int result = i;
      futures.add(pool.schedule(() -> result, 24 - 2 * i, TimeUnit.MILLISECONDS));
    }
    int sum = 0;
    for (ScheduledFuture<Integer> future : futures) {
      sum += future.get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 12, "ends", 12, "waits", 12, "workers", 2, "sum", sum);
  }
}
