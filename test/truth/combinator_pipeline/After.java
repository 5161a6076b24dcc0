package combinator_pipeline;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** The steps are chained; each starts where the one before ends. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(40);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.open(POOL, 150, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startOrder(number).get();
  }

  private static CompletableFuture<Integer> startOrder(int number) {
    return order(number);
  }

  private static CompletableFuture<Integer> order(int number) {
    return CompletableFuture.supplyAsync(() -> basket(number), POOL).thenCompose(basket -> {
      CompletableFuture<Integer> price = CompletableFuture.supplyAsync(() -> price(basket), POOL);
      CompletableFuture<Integer> stock = CompletableFuture.supplyAsync(() -> stock(basket), POOL);
      return price.thenCombine(stock, (p, s) -> p + s);
    });
  }

  private static int basket(int number) {
    Work.waitMs(8);
    return number % 23;
  }

  private static int price(int basket) {
    Work.waitMs(12);
    return basket * 5;
  }

  private static int stock(int basket) {
    Work.waitMs(6);
    return basket + 1;
  }
}
