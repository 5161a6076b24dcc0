import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Stages of CompletableFutures on a pool of four. Two of three ask one of two devices behind one lock, and stand before it with
 * the pool's workers; the third kind asks nobody, and waits for a worker. The twin has a lock for each device.
 */
public final class FutureSplit {
  private static final int TASKS = 600;
  private static final ReentrantLock DEVICES = new ReentrantLock();
  private static long scanned = 1, printed = 2;

  private static long scan(ReentrantLock lock) {
    lock.lock();
    try {
      long at = scanned;
      pause(2);
      scanned = Work.spin(at, 20_000);
      return scanned & 1;
    } finally {
      lock.unlock();
    }
  }

  private static long print(ReentrantLock lock) {
    lock.lock();
    try {
      long at = printed;
      pause(2);
      printed = Work.spin(at, 20_000);
      return printed & 1;
    } finally {
      lock.unlock();
    }
  }

  private static long file(long key) {
    pause(2);
    return Work.spin(key, 20_000) & 1;
  }

  private static void pause(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] args) {
    ReentrantLock other = Work.isTwin(args) ? new ReentrantLock() : DEVICES;
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<CompletableFuture<Long>> results = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      int number = i;
      results.add(CompletableFuture.supplyAsync(
          () -> number % 3 == 0 ? scan(DEVICES) : number % 3 == 1 ? print(other) : file(number + 1), pool));
    }
    CompletableFuture.allOf(results.toArray(new CompletableFuture<?>[0])).join();
    pool.shutdown();
    long sum = 0;
    for (CompletableFuture<Long> result : results) {
      sum += result.join() >= 0 ? 1 : 0;
    }
    System.out.println(sum + scanned + printed);
  }
}
