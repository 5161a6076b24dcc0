package saturated_nested;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** Six orders hold a worker each while they wait for prices and stocks, for which two workers of the pool are left. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(8);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(6, 40, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startOrder(number).get();
  }

  private static Future<Integer> startOrder(int number) {
    return POOL.submit(() -> order(number));
  }

  private static int order(int number) throws Exception {
    Work.waitMs(1);
    int price = startPrice(number).get();
    int stock = startStock(number).get();
    return price * 3 + stock;
  }

  private static Future<Integer> startPrice(int number) {
    return POOL.submit(() -> price(number));
  }

  private static Future<Integer> startStock(int number) {
    return POOL.submit(() -> stock(number));
  }

  private static int price(int number) {
    Work.waitMs(6);
    return number % 23;
  }

  private static int stock(int number) {
    Work.waitMs(4);
    return number % 19;
  }
}
