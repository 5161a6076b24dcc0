import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/** Tasks of a pool that ask a slow service while they hold a lock; the twin asks first. The work is waiting. */
public final class PoolShorten {
  private static final int TASKS = 360;
  private static final ReentrantLock CACHE = new ReentrantLock();
  private static long cached;

  private static long load(boolean isTwin, int key) throws InterruptedException {
    if (isTwin) {
      Thread.sleep(3);
    }
    CACHE.lock();
    try {
      if (!isTwin) {
        Thread.sleep(3);
      }
      cached += Work.spin(key, 40_000) & 1;
      return cached;
    } finally {
      CACHE.unlock();
    }
  }

  public static void main(String[] args) throws Exception {
    boolean isTwin = Work.isTwin(args);
    ExecutorService pool = Executors.newFixedThreadPool(3);
    List<Future<Long>> results = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      int key = i + 1;
      results.add(pool.submit(() -> load(isTwin, key)));
    }
    long sum = 0;
    for (Future<Long> result : results) {
      sum += result.get() >= 0 ? 1 : 0;
    }
    pool.shutdown();
    System.out.println(sum + cached);
  }
}
