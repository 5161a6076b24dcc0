package programs;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A full pool: tasks refused, dropped, or run by the thread that brought them. */
public final class Rejected {
  public static void main(String[] arguments) throws Exception {
    int aborted = 0;
    int ran = 0;
    for (var policy : List.of(new ThreadPoolExecutor.AbortPolicy(), new ThreadPoolExecutor.DiscardPolicy(),
        new ThreadPoolExecutor.DiscardOldestPolicy(), new ThreadPoolExecutor.CallerRunsPolicy())) {
      ThreadPoolExecutor pool =
          new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(2), policy);
      AtomicInteger bodies = new AtomicInteger();
      CountDownLatch gate = new CountDownLatch(1);
      CountDownLatch busy = new CountDownLatch(1);
      pool.execute(() -> {
        busy.countDown();
        awaitQuietly(gate);
        bodies.incrementAndGet();
      });
      busy.await();
      for (int i = 0; i < 5; i++) {
        try {
          pool.execute(bodies::incrementAndGet);
        } catch (RejectedExecutionException e) {
          aborted++;
        }
      }
      gate.countDown();
      Facts.finish(pool);
      ran += bodies.get();
    }
    // One running and two queued in each of four pools; five offered beyond the first, so three too many in each.
    Facts.print("offered", 24, "aborted", aborted, "discarded", 6, "run_by_caller", 3, "ends", ran);
  }

  private static void awaitQuietly(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
