package inline_at_wait;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** The longest is done at once, before the other two are handed out. */
public final class HistoryInline {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(5, 40, HistoryInline::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    Future<Integer> history = startHistory(number);
    Future<Integer> stock = startStock(number);
    Future<Integer> price = startPrice(number);
    return history.get() + stock.get() + price.get();
  }

  private static Future<Integer> startHistory(int product) {
    return CompletableFuture.completedFuture(history(product));
  }

  private static Future<Integer> startStock(int product) {
    return POOL.submit(() -> stock(product));
  }

  private static Future<Integer> startPrice(int product) {
    return POOL.submit(() -> price(product));
  }

  private static int history(int product) {
    Work.waitMs(20);
    return product % 31;
  }

  private static int stock(int product) {
    Work.waitMs(8);
    return product % 13;
  }

  private static int price(int product) {
    Work.waitMs(8);
    return 100 + product % 900;
  }
}
