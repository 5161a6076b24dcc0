package saturated_nested;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** Orders ask for prices and stocks themselves; nothing queues. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(8);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(6, 40, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startOrder(number).get();
  }

  private static Future<Integer> startOrder(int number) {
    return POOL.submit(() -> order(number));
  }

  private static int order(int number) {
    Work.waitMs(1);
    int price = price(number);
    int stock = stock(number);
    return price * 3 + stock;
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
