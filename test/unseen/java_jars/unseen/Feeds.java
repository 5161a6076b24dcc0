package unseen;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.ListeningExecutorService;
import com.google.common.util.concurrent.MoreExecutors;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * Guava's futures: pages of a feed are loaded, transformed and gathered, a few feeds after the other, on three threads that only wait.
 * Twins: more threads.
 */
public final class Feeds {
  public static void main(String[] arguments) throws Exception {
    ListeningExecutorService pool = MoreExecutors.listeningDecorator(Executors.newFixedThreadPool(Stopwatch.size(arguments, 3)));
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int feed = 0; feed < 8; feed++) {
      List<ListenableFuture<Integer>> pages = new ArrayList<>();
      for (int page = 0; page < 15; page++) {
        final int number = feed * 15 + page;
        ListenableFuture<String> loaded = pool.submit(() -> load(number));
        pages.add(Futures.transform(loaded, String::length, MoreExecutors.directExecutor()));
      }
      sum += Futures.allAsList(pages).get().stream().mapToInt(Integer::intValue).sum();
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static String load(int page) throws InterruptedException {
    Thread.sleep(5 + page % 11);
    return "x".repeat(page % 40);
  }
}
