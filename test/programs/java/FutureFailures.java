package programs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Suppliers that throw: exceptionally, handle and whenComplete see it, and so does who joins. */
public final class FutureFailures {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    AtomicInteger seen = new AtomicInteger();
    int thrown = 0;
    for (int i = 0; i < 15; i++) {
      CompletableFuture<Integer> failing = CompletableFuture.supplyAsync(FutureFailures::fail, pool);
      int recovered = failing.exceptionally(failure -> {
        seen.incrementAndGet();
        return 7;
      }).join();
      failing.handle((value, failure) -> failure == null ? 0 : seen.incrementAndGet()).join();
      try {
        failing.whenComplete((value, failure) -> seen.incrementAndGet()).join();
      } catch (CompletionException e) {
        thrown += recovered;
      }
    }
    Facts.finish(pool);
    Facts.print("tasks", 15, "exceptions", 15, "stages", 45, "waits", 45, "seen", seen.get(), "thrown", thrown / 7);
  }

  private static int fail() {
    throw new IllegalArgumentException("meant to fail");
  }
}
