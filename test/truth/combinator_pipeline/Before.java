package combinator_pipeline;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** A task that waits for a step, then for the two steps that need its result. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(40);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.open(POOL, 150, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startOrder(number).get();
  }

  private static Future<Integer> startOrder(int number) {
    return POOL.submit(() -> order(number));
  }

  private static int order(int number) throws Exception {
    int basket = POOL.submit(() -> basket(number)).get();
    Future<Integer> price = POOL.submit(() -> price(basket));
    Future<Integer> stock = POOL.submit(() -> stock(basket));
    return price.get() + stock.get();
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
