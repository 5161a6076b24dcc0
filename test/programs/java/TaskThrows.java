package programs;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Tasks that throw: by submit, where the future holds it, and by execute, where the worker dies of it. */
public final class TaskThrows {
  public static void main(String[] arguments) throws Exception {
    AtomicInteger uncaught = new AtomicInteger();
    CountDownLatch died = new CountDownLatch(10);
    ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), body -> {
      Thread thread = new Thread(body);
      thread.setUncaughtExceptionHandler((dying, failure) -> {
        uncaught.incrementAndGet();
        died.countDown();
      });
      return thread;
    });
    int caught = 0;
    for (int i = 0; i < 10; i++) {
      try {
        pool.submit(TaskThrows::fail).get();
      } catch (ExecutionException e) {
        caught++;
      }
      pool.execute(TaskThrows::fail);
    }
    Facts.finish(pool);
    died.await();  // a worker leaves its pool before its handler is called
    Facts.print("tasks", 20, "exceptions", caught + uncaught.get(), "waits", 10, "workers_died", uncaught.get());
  }

  private static void fail() {
    throw new IllegalStateException("meant to fail");
  }
}
