package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A cached pool, whose hand-off queue is always empty: five tasks at once, so five workers. */
public final class CachedPool {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newCachedThreadPool();
    CountDownLatch allThere = new CountDownLatch(5);
    List<Future<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      int result = i;
      futures.add(pool.submit(() -> {
        allThere.countDown();
        allThere.await();
        return result;
      }));
    }
    int sum = 0;
    for (Future<Integer> future : futures) {
      sum += future.get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 5, "ends", 5, "waits", 5, "workers", 5, "sum", sum);
  }
}
