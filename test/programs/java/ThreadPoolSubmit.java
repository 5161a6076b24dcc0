package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** submit in its three forms (Runnable, Runnable with a result, Callable), each result awaited. */
public final class ThreadPoolSubmit {
  public static void main(String[] arguments) throws Exception {
    AtomicInteger ran = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<?>> futures = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      futures.add(pool.submit((Runnable) ran::incrementAndGet));
      futures.add(pool.submit((Runnable) ran::incrementAndGet, "done"));
      futures.add(pool.submit((Callable<Integer>) ran::incrementAndGet));
    }
    int waits = 0;
    for (Future<?> future : futures) {
      future.get();
      waits++;
    }
    Facts.finish(pool);
    Facts.print("tasks", ran.get(), "ends", ran.get(), "waits", waits, "workers", 4);
  }
}
