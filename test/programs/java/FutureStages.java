package programs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Every kind of dependent stage of one future, in its synchronous and its asynchronous form. */
public final class FutureStages {
  private static final AtomicInteger BODIES = new AtomicInteger();

  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    int sum = 0;
    for (int i = 0; i < 10; i++) {
      int start = i;
      CompletableFuture<Integer> future = CompletableFuture.supplyAsync(() -> body(start), pool)
          .thenApply(FutureStages::body)
          .thenApplyAsync(FutureStages::body, pool)
          .thenCompose(value -> CompletableFuture.completedFuture(body(value)))
          .thenComposeAsync(value -> CompletableFuture.supplyAsync(() -> body(value), pool), pool)
          .handle((value, failure) -> body(value))
          .handleAsync((value, failure) -> body(value), pool)
          .whenComplete((value, failure) -> body(value))
          .whenCompleteAsync((value, failure) -> body(value), pool)
          .exceptionally(failure -> -1);
      future.thenAccept(FutureStages::body).thenRun(() -> body(0)).join();
      future.thenAcceptAsync(FutureStages::body, pool).thenRunAsync(() -> body(0), pool).join();
      sum += future.join();
    }
    Facts.finish(pool);
    // Handed to the pool: two suppliers and six asynchronous stages for each of ten futures.
    Facts.print("futures", 10, "async_tasks", 80, "stages", 130, "bodies", BODIES.get(), "waits", 30, "sum", sum);
  }

  private static int body(int value) {
    BODIES.incrementAndGet();
    return value + 1;
  }
}
