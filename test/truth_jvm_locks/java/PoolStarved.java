import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * One of three tasks needs the one device, and they come two at a time: the second stands before its monitor with one of the pool's
 * two workers, while tasks that need no device queue. The twin has a pool of six; the device can only do one thing at a time.
 */
public final class PoolStarved {
  private static final int BATCHES = 90, BATCH = 6;
  private static final Object DEVICE = new Object();
  private static long position = 1;

  private static long move() throws InterruptedException {
    synchronized (DEVICE) {
      long from = position;
      Thread.sleep(3);
      position = Work.spin(from, 10_000);
      return position & 1;
    }
  }

  private static long look(long key) throws InterruptedException {
    Thread.sleep(3);
    return Work.spin(key, 10_000) & 1;
  }

  public static void main(String[] args) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Work.isTwin(args) ? 6 : 2);
    List<Callable<Long>> tasks = new ArrayList<>();
    for (int i = 0; i < BATCHES * BATCH; i++) {
      int number = i;
      tasks.add(number % BATCH < 2 ? PoolStarved::move : () -> look(number + 1));
    }
    long sum = 0;
    for (Future<Long> result : pool.invokeAll(tasks)) {
      sum += result.get() >= 0 ? 1 : 0;
    }
    pool.shutdown();
    System.out.println(sum + position);
  }
}
