package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Two searchers exchange their best tour after each step, and ask a pool of two for the lengths of eight variants each; a pool inside of
 * which a task hands out to another. Twins: "4": four threads measure; "inline": the searchers measure.
 */
public final class Tours {
  private static final int STEPS = 60;

  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService searchers = Executors.newFixedThreadPool(2);
    ExecutorService measuring = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2));
    Exchanger<Integer> exchanger = new Exchanger<>();
    CountDownLatch ready = new CountDownLatch(2);
    Stopwatch watch = new Stopwatch();
    List<Future<Integer>> best = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      final int first = i;
      best.add(searchers.submit(() -> {
        ready.countDown();
        ready.await();
        int tour = first;
        for (int step = 0; step < STEPS; step++) {
          tour = Math.min(tour, exchanger.exchange(searched(inline ? null : measuring, tour + step)));
        }
        return tour;
      }));
    }
    int sum = 0;
    for (Future<Integer> one : best) {
      sum += one.get();
    }
    watch.print(sum);
    searchers.shutdown();
    measuring.shutdown();
  }

  private static int searched(ExecutorService measuring, int tour) throws Exception {
    if (measuring == null) {
      int least = Integer.MAX_VALUE;
      for (int variant = 0; variant < 8; variant++) {
        least = Math.min(least, length(tour, variant));
      }
      return least;
    }
    List<Future<Integer>> lengths = new ArrayList<>();
    for (int variant = 0; variant < 8; variant++) {
      lengths.add(handedOut(measuring, tour, variant));
    }
    int least = Integer.MAX_VALUE;
    for (Future<Integer> length : lengths) {
      least = Math.min(least, length.get());
    }
    return least;
  }

  private static Future<Integer> handedOut(ExecutorService measuring, int tour, int variant) {
    return measuring.submit(() -> length(tour, variant));
  }

  /** Asks a service for the distances. */
  private static int length(int tour, int variant) throws InterruptedException {
    Thread.sleep(2 + variant % 3);
    int length = 0;
    for (int i = 1; i < 4_000; i++) {
      length += (tour * 31 + variant * i) % 97;
    }
    return length;
  }
}
