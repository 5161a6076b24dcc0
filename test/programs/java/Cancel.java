package programs;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** cancel of a queued task, of a running one, and of one that is done. */
public final class Cancel {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    int cancelled = 0;
    int refused = 0;
    for (int i = 0; i < 5; i++) {
      CountDownLatch busy = new CountDownLatch(1);
      Future<Integer> done = pool.submit(() -> 1);
      done.get();
      Future<?> running = pool.submit(() -> {
        busy.countDown();
        Thread.sleep(60_000);
        return 1;
      });
      Future<Integer> queued = pool.submit(() -> 1);
      busy.await();
      refused += done.cancel(true) ? 0 : 1;
      cancelled += queued.cancel(false) ? 1 : 0;
      cancelled += running.cancel(true) ? 1 : 0;
      try {
        queued.get();
      } catch (CancellationException e) {
        refused++;
      }
    }
    Facts.finish(pool);
    Facts.print("tasks", 15, "starts", 10, "cancelled", cancelled, "waits", 10, "refused", refused);
  }
}
