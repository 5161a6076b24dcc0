package combinator_sum;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** The sum is a stage of the two futures; nobody waits in the pool. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(12);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 70, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return parallelSum(number).get();
  }

  private static CompletableFuture<Integer> parallelSum(int number) {
    CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> longOperation1(number), POOL);
    CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> longOperation2(number), POOL);
    return first.thenCombine(second, (f, s) -> f + s);
  }

  private static int longOperation1(int number) {
    Work.waitMs(9);
    return number % 17;
  }

  private static int longOperation2(int number) {
    Work.waitMs(15);
    return number % 19;
  }
}
