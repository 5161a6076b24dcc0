package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/** Tasks that block on a ReentrantLock which another task holds. */
public final class LockContention {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    ReentrantLock lock = new ReentrantLock();
    List<Future<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      futures.add(pool.submit(() -> {
        lock.lock();
        try {
          Thread.sleep(3);
          return 1;
        } finally {
          lock.unlock();
        }
      }));
    }
    int sum = 0;
    for (Future<Integer> future : futures) {
      sum += future.get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 12, "ends", 12, "waits", 12, "workers", 4, "lock_blocks_min", 6, "sum", sum);
  }
}
