package inline_supply_async;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** Two asynchronous suppliers, each joined before the next step. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(6);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(2, 70, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) {
    int stock = CompletableFuture.supplyAsync(() -> stock(number), POOL).join();
    return stock + askPrice(number);
  }

  private static int askPrice(int product) {
    return CompletableFuture.supplyAsync(() -> price(product), POOL).join();
  }

  private static int stock(int product) {
    Work.waitMs(5);
    return product % 13;
  }

  private static int price(int product) {
    Work.waitMs(11);
    return 100 + product % 900;
  }
}
