package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Executors.newWorkStealingPool: a fork-join pool behind the plain interface. */
public final class WorkStealing {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newWorkStealingPool(3);
    List<Future<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      int result = i;
      futures.add(pool.submit(() -> result));
    }
    int sum = 0;
    for (Future<Integer> future : futures) {
      sum += future.get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 30, "ends", 30, "waits", 30, "sum", sum);
  }
}
