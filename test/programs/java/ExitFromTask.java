package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** System.exit by a task of a pool, while main waits for its result. */
public final class ExitFromTask {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    for (int i = 0; i < 9; i++) {
      pool.submit(() -> i()).get();
    }
    Thread main = Thread.currentThread();
    pool.submit(() -> {
      Facts.awaitWait(main);  // otherwise the exit may come before main waits
      Facts.print("tasks", 10, "starts", 10, "ends", 9, "waits", 10);
      System.exit(4);
      return null;
    }).get();
  }

  private static int i() {
    return 1;
  }
}
