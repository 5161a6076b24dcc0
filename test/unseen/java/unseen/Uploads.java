package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/**
 * A batch of uploads on a cached pool, four under way at a time by a semaphore that the loop acquires; each upload has its log line written
 * by a single thread, and waits for that. Twins: "inline": the line is written in place; "log": two threads write lines.
 */
public final class Uploads {
  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService pool = Executors.newCachedThreadPool();
    ExecutorService log = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    Semaphore underWay = new Semaphore(4);
    Stopwatch watch = new Stopwatch();
    List<Future<Integer>> all = new ArrayList<>();
    for (int i = 0; i < 240; i++) {
      final int number = i;
      underWay.acquire();
      all.add(pool.submit(() -> {
        try {
          return upload(number) + (inline ? line(number) : written(log, number).get());
        } finally {
          underWay.release();
        }
      }));
    }
    long sum = 0;
    for (Future<Integer> one : all) {
      sum += one.get();
    }
    watch.print(sum);
    pool.shutdown();
    log.shutdown();
  }

  private static Future<Integer> written(ExecutorService log, int number) {
    return log.submit(() -> line(number));
  }

  private static int upload(int number) throws InterruptedException {
    Thread.sleep(4 + number % 4);
    return number % 31;
  }

  private static int line(int number) throws InterruptedException {
    Thread.sleep(3);
    return String.format("%05d uploaded %x", number, number * 31).hashCode() & 0xFF;
  }
}
