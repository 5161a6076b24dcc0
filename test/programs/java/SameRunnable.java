package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** One Runnable object executed two hundred times, also at the same time. */
public final class SameRunnable {
  public static void main(String[] arguments) throws Exception {
    AtomicInteger ran = new AtomicInteger();
    Runnable body = ran::incrementAndGet;
    ExecutorService pool = Executors.newFixedThreadPool(3);
    for (int i = 0; i < 100; i++) {
      pool.execute(body);
      pool.submit(body).get();
    }
    Facts.finish(pool);
    Facts.print("tasks", ran.get(), "ends", ran.get(), "waits", 100, "workers", 3);
  }
}
