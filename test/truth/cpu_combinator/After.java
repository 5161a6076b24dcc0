package cpu_combinator;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** The two computations, and a stage that adds up. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(3);

  public static void main(String[] arguments) throws Exception {
    Work.warmSpin();
    System.out.println("result " + Load.closed(1, 80, After::serve));
    Work.printSpent();
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startTotal(number).get();
  }

  private static CompletableFuture<Long> startTotal(int number) {
    return total(number);
  }

  private static CompletableFuture<Long> total(int number) {
    CompletableFuture<Long> left = CompletableFuture.supplyAsync(() -> part(number, 7_000), POOL);
    CompletableFuture<Long> right = CompletableFuture.supplyAsync(() -> part(number + 1, 4_000), POOL);
    return left.thenCombine(right, (l, r) -> l + r);
  }

  private static long part(int seed, int thousands) {
    return Work.spin(seed, thousands);
  }
}
