package inline_at_wait;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import truth.Load;
import truth.Work;

/** The longest runs where the request waits for it, when the other two have been handed out. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(5, 40, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    FutureTask<Integer> history = startHistory(number);
    Future<Integer> stock = startStock(number);
    Future<Integer> price = startPrice(number);
    history.run();
    return history.get() + stock.get() + price.get();
  }

  private static FutureTask<Integer> startHistory(int product) {
    return new FutureTask<>(() -> history(product));
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
