package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * A pool of one whose tasks read, and then run a parallel stream on the common pool. Twins: two and three threads, a sequential stream.
 */
public final class Mosaics {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    boolean sequential = Stopwatch.isTwin(arguments, "sequential");
    Stopwatch watch = new Stopwatch();
    List<Future<Long>> pictures = new ArrayList<>();
    for (int picture = 0; picture < 60; picture++) {
      int number = picture;
      pictures.add(pool.submit(() -> mosaic(number, sequential)));
    }
    long sum = 0;
    for (Future<Long> picture : pictures) {
      sum += picture.get();
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static long mosaic(int picture, boolean sequential) throws InterruptedException {
    Thread.sleep(7);
    IntStream tiles = IntStream.range(0, 600);
    return (sequential ? tiles : tiles.parallel()).mapToLong(tile -> nearest(picture * 600 + tile)).sum();
  }

  private static long nearest(int tile) {
    long best = Long.MAX_VALUE;
    long colour = tile * 2_654_435_761L;
    for (int stone = 0; stone < 4_000; stone++) {
      long distance = (colour ^ stone * 40_503L) & 0xFFFF;
      best = Math.min(best, distance * distance);
    }
    return best;
  }
}
