package inline_last;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** The first of the two is done at once, so the request waits for both in turn. */
public final class FirstInline {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(8);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 80, FirstInline::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    Future<Integer> stock = startStock(number);
    Future<Integer> price = startPrice(number);
    return stock.get() + price.get();
  }

  private static Future<Integer> startStock(int product) {
    return CompletableFuture.completedFuture(stock(product));
  }

  private static Future<Integer> startPrice(int product) {
    return POOL.submit(() -> price(product));
  }

  private static int stock(int product) {
    Work.waitMs(12);
    return product % 13;
  }

  private static int price(int product) {
    Work.waitMs(12);
    return 100 + product % 900;
  }
}
