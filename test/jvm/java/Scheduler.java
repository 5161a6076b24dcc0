package places.library;

import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A library: it has a pool of its own, and a task of its own that hands out another one. */
public final class Scheduler {
  private final ExecutorService pool;

  public Scheduler(int workers) {
    pool = Executors.newFixedThreadPool(workers);
  }

  public <T> Future<T> later(Callable<T> body) {
    pool.execute(() -> again(pool));
    return pool.submit(body);
  }

  /** Nobody but the library is on the stack. */
  private static void again(Executor pool) {
    try {
      pool.execute(() -> { });
    } catch (java.util.concurrent.RejectedExecutionException closed) {
      // The program was faster.
    }
  }

  public void close() {
    pool.shutdown();
  }
}
