package unseen;

import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Shelves are searched by a parallel stream inside a fork-join pool of its own, of three workers; each shelf is slow to reach. Twins: more. */
public final class Search {
  public static void main(String[] arguments) throws Exception {
    ForkJoinPool pool = new ForkJoinPool(Stopwatch.size(arguments, 3));
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int question = 0; question < 12; question++) {
      final int asked = question;
      List<Integer> found = pool.submit(() -> IntStream.range(0, 24).parallel().map(shelf -> reach(shelf, asked)).boxed()
          .collect(Collectors.toList())).get();
      for (int hit : found) {
        sum += hit;
      }
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static int reach(int shelf, int question) {
    try {
      Thread.sleep(6 + (shelf + question) % 6);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int hits = 0;
    for (int book = 0; book < 30_000; book++) {
      hits += (book * 31 + shelf * 17 + question) % 97 == 0 ? 1 : 0;
    }
    return hits;
  }
}
