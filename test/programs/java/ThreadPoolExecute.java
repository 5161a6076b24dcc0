package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A hundred tasks given to a fixed pool by execute; nobody waits for a single one. */
public final class ThreadPoolExecute {
  public static void main(String[] arguments) throws Exception {
    AtomicInteger ran = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(4);
    for (int i = 0; i < 100; i++) {
      pool.execute(ran::incrementAndGet);
    }
    Facts.finish(pool);
    Facts.print("tasks", ran.get(), "ends", ran.get(), "waits", 0, "workers", 4);
  }
}
