package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Journeys as chains of CompletableFutures: the train, then its hotel, beside them the weather, joined at the end; some fail and are mended
 * by `exceptionally`. Four at a time are asked for. Twins: more threads.
 */
public final class Journeys {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 3));
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int group = 0; group < 14; group++) {
      List<CompletableFuture<Long>> journeys = new ArrayList<>();
      for (int traveller = 0; traveller < 4; traveller++) {
        journeys.add(journey(pool, group * 4 + traveller));
      }
      for (CompletableFuture<Long> journey : journeys) {
        sum += journey.join();
      }
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static CompletableFuture<Long> journey(ExecutorService pool, int number) {
    CompletableFuture<Long> weather = CompletableFuture.supplyAsync(() -> ask(number * 3, 9), pool);
    return CompletableFuture.supplyAsync(() -> ask(number, 6), pool)
        .thenCompose(train -> CompletableFuture.supplyAsync(() -> hotel(train), pool))
        .exceptionally(failure -> 4711L)
        .thenCombine(weather, (hotel, sky) -> hotel * 31 + sky)
        .thenApplyAsync(plan -> plan % 100_003 + ask((int) (plan & 0xFF), 2), pool);
  }

  private static long hotel(long train) {
    if (train % 7 == 0) {
      throw new IllegalStateException("full");
    }
    return ask((int) (train & 0xFFF), 8);
  }

  private static long ask(int key, int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    long answer = key;
    for (int i = 0; i < 50_000; i++) {
      answer = answer * 6_364_136_223_846_793_005L + i;
    }
    return answer >>> 40;
  }
}
