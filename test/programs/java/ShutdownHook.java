package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A hook that runs tasks while the machine goes down. */
public final class ShutdownHook {
  public static void main(String[] arguments) throws Exception {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        Facts.print("tasks", 6 + run(4), "ends", 10, "waits", 10, "hook_tasks", 4);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }));
    run(6);
  }

  private static int run(int tasks) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    for (int i = 0; i < tasks; i++) {
      int result = i;
      pool.submit(() -> result).get();
    }
    Facts.finish(pool);
    return tasks;
  }
}
