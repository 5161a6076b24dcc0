package saturated_clients;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** Each client makes its page itself; only lookups queue. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(3);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(9, 30, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    int row = startLookup(number).get();
    return page(row);
  }

  private static Future<Integer> startLookup(int number) {
    return POOL.submit(() -> lookup(number));
  }

  private static int lookup(int number) {
    Work.waitMs(6);
    return number % 29;
  }

  private static int page(int row) {
    Work.waitMs(row % 2 == 0 ? 4 : 12);
    return row * 2;
  }
}
