package programs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Stages of two or more futures: thenCombine, thenAcceptBoth, runAfterBoth, applyToEither, allOf, anyOf. */
public final class FutureCombine {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    AtomicInteger side = new AtomicInteger();
    int sum = 0;
    for (int i = 0; i < 10; i++) {
      CompletableFuture<Integer> a = CompletableFuture.supplyAsync(() -> 1, pool);
      CompletableFuture<Integer> b = CompletableFuture.supplyAsync(() -> 2, pool);
      CompletableFuture<Integer> c = CompletableFuture.supplyAsync(() -> 3, pool);
      sum += a.thenCombine(b, Integer::sum).join();
      sum += a.thenCombineAsync(c, Integer::sum, pool).join();
      a.thenAcceptBoth(b, (x, y) -> side.addAndGet(x + y)).join();
      b.runAfterBoth(c, side::incrementAndGet).join();
      sum += a.applyToEither(a, x -> x).join();
      CompletableFuture.allOf(a, b, c).join();
      sum += (Integer) CompletableFuture.anyOf(c, c).join();
    }
    Facts.finish(pool);
    Facts.print("tasks", 40, "suppliers", 30, "waits", 70, "sum", sum, "side", side.get());
  }
}
