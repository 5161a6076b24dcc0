package inline_supply_async;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** The two steps run one after the other on the client. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(6);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(2, 70, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) {
    int stock = stock(number);
    return stock + askPrice(number);
  }

  private static int askPrice(int product) {
    return price(product);
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
