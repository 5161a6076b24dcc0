package unseen;

import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Quotes are asked of eleven dealers at once and taken as they come, round after round, on a pool of four. Twins: more workers. */
public final class Quotes {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 4));
    CompletionService<Integer> dealers = new ExecutorCompletionService<>(pool);
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int round = 0; round < 40; round++) {
      for (int dealer = 0; dealer < 11; dealer++) {
        final int key = round * 11 + dealer;
        dealers.submit(() -> quote(key));
      }
      for (int taken = 0; taken < 11; taken++) {
        sum += rate(dealers.take().get());
      }
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static int quote(int key) throws InterruptedException {
    Thread.sleep(5 + key % 8);
    return key % 101;
  }

  private static long rate(int quote) {
    double rate = quote;
    for (int i = 0; i < 20_000; i++) {
      rate = Math.sqrt(rate * rate + i);
    }
    return quote + (rate > 0 ? 1 : 0);
  }
}
