package programs;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** A thread that is interrupted while it waits for a result. */
public final class InterruptedGet {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    CountDownLatch gate = new CountDownLatch(1);
    Future<Integer> future = pool.submit(() -> {
      gate.await();
      return 1;
    });
    AtomicInteger interrupted = new AtomicInteger();
    Thread waiter = new Thread(() -> {
      try {
        future.get();
      } catch (InterruptedException e) {
        interrupted.incrementAndGet();
      } catch (ExecutionException e) {
        throw new IllegalStateException(e);
      }
    });
    waiter.start();
    while (waiter.getState() != Thread.State.WAITING) {
      Thread.sleep(1);
    }
    waiter.interrupt();
    waiter.join();
    gate.countDown();
    int result = future.get();
    Facts.finish(pool);
    Facts.print("tasks", 1, "threads", 1, "waits", 3, "interrupted", interrupted.get(), "result", result);
  }
}
