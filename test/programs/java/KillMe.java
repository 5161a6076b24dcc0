package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Tasks for as long as a minute: the recorder's tests kill it in the midst of them. */
public final class KillMe {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    for (int i = 0; i < 30_000; i++) {
      int result = i;
      pool.submit(() -> result).get();
      Thread.sleep(2);
    }
    Facts.finish(pool);
    Facts.print("tasks", 30_000);
  }
}
