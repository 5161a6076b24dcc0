package combinator_all_of;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** A task that starts five others of different lengths and collects them. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(16);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(2, 70, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startQuotes(number).get();
  }

  private static Future<Integer> startQuotes(int number) {
    return POOL.submit(() -> collectQuotes(number));
  }

  private static int collectQuotes(int number) throws Exception {
    List<Future<Integer>> quotes = new ArrayList<>();
    for (int dealer = 0; dealer < 5; dealer++) {
      int id = dealer;
      quotes.add(POOL.submit(() -> quote(id, number)));
    }
    int sum = 0;
    for (Future<Integer> quote : quotes) {
      sum += quote.get();
    }
    return sum;
  }

  private static int quote(int dealer, int number) {
    Work.waitMs(4 + 3 * dealer);
    return dealer * 100 + number % 29;
  }
}
