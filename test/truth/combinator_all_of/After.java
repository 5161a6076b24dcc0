package combinator_all_of;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** All five are started at once; the last to end adds up. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(16);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(2, 70, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startQuotes(number).get();
  }

  private static CompletableFuture<Integer> startQuotes(int number) {
    return collectQuotes(number);
  }

  private static CompletableFuture<Integer> collectQuotes(int number) {
    List<CompletableFuture<Integer>> quotes = new ArrayList<>();
    for (int dealer = 0; dealer < 5; dealer++) {
      int id = dealer;
      quotes.add(CompletableFuture.supplyAsync(() -> quote(id, number), POOL));
    }
    return CompletableFuture.allOf(quotes.toArray(CompletableFuture[]::new)).thenApply(all -> {
      int sum = 0;
      for (CompletableFuture<Integer> quote : quotes) {
        sum += quote.join();
      }
      return sum;
    });
  }

  private static int quote(int dealer, int number) {
    Work.waitMs(4 + 3 * dealer);
    return dealer * 100 + number % 29;
  }
}
