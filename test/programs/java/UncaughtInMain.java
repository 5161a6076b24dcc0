package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** main ends by an exception after its tasks are done. */
public final class UncaughtInMain {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    for (int i = 0; i < 10; i++) {
      int result = i;
      pool.submit(() -> result).get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 10, "ends", 10, "waits", 10, "workers", 2);
    throw new IllegalStateException("meant to end main");
  }
}
