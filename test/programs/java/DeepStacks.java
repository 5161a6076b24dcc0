package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Tasks handed over and awaited at the bottom of a deep recursion. */
public final class DeepStacks {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    int sum = 0;
    for (int depth = 0; depth <= 2000; depth += 200) {
      sum += descend(depth, pool);
    }
    Facts.finish(pool);
    Facts.print("tasks", 11, "ends", 11, "waits", 11, "workers", 2, "depth_max", 2000, "sum", sum);
  }

  private static int descend(int depth, ExecutorService pool) throws Exception {
    return depth == 0 ? pool.submit(() -> recurse(1500)).get() : descend(depth - 1, pool);
  }

  private static int recurse(int depth) {
    return depth == 0 ? 1 : recurse(depth - 1);
  }
}
