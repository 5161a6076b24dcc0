package inline_last;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** The second of the two runs on the thread that would only have waited. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(8);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 80, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    Future<Integer> stock = startStock(number);
    int price = price(number);
    return stock.get() + price;
  }

  private static Future<Integer> startStock(int product) {
    return POOL.submit(() -> stock(product));
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
