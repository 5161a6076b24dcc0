package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/** More semaphores than the recorder tells of, each used once. */
public final class ManySemaphores {
  private static final int EACH = 20_000;

  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      futures.add(pool.submit(() -> {
        int left = 0;
        for (int k = 0; k < EACH; k++) {
          Semaphore semaphore = new Semaphore(2);
          semaphore.acquire();
          semaphore.release();
          left += semaphore.availablePermits();
        }
        return left;
      }));
    }
    int left = 0;
    for (Future<Integer> future : futures) {
      left += future.get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 4, "ends", 4, "waits", 4, "workers", 4, "semaphores", 4 * EACH, "left", left);
  }
}
