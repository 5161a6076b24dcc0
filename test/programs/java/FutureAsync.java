package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** CompletableFuture.supplyAsync and runAsync on a given pool and on the common one, each joined. */
public final class FutureAsync {
  public static void main(String[] arguments) throws Exception {
    AtomicInteger ran = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(3);
    List<CompletableFuture<?>> futures = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      futures.add(CompletableFuture.supplyAsync(ran::incrementAndGet, pool));
      futures.add(CompletableFuture.runAsync(ran::incrementAndGet, pool));
      futures.add(CompletableFuture.supplyAsync(ran::incrementAndGet));
      futures.add(CompletableFuture.runAsync(ran::incrementAndGet));
    }
    int waits = 0;
    for (CompletableFuture<?> future : futures) {
      future.join();
      waits++;
    }
    Facts.finish(pool);
    Facts.print("tasks", 100, "ends", ran.get(), "waits", waits);
  }
}
