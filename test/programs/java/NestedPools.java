package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tasks that hand tasks to a second pool and wait, which do the same with a third. */
public final class NestedPools {
  private static final List<ExecutorService> POOLS = List.of(
      Executors.newFixedThreadPool(2), Executors.newFixedThreadPool(2), Executors.newSingleThreadExecutor());

  public static void main(String[] arguments) throws Exception {
    int sum = 0;
    List<Future<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      futures.add(POOLS.get(0).submit(() -> work(1)));
    }
    for (Future<Integer> future : futures) {
      sum += future.get();
    }
    for (ExecutorService pool : POOLS) {
      Facts.finish(pool);
    }
    Facts.print("tasks", 6 + 12 + 24, "ends", 42, "waits", 42, "pools", 3, "sum", sum);
  }

  private static int work(int level) throws Exception {
    if (level == 3) {
      return 1;
    }
    Future<Integer> left = POOLS.get(level).submit(() -> work(level + 1));
    Future<Integer> right = POOLS.get(level).submit(() -> work(level + 1));
    return left.get() + right.get();
  }
}
