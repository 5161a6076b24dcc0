import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Tasks that hand each booking to the one thread of a ledger, which does no more than take its monitor and add, and wait for it.
 * Reports, which take longer, stand in front of it there. The twin books where it is.
 */
public final class LedgerInline {
  private static final int TASKS = 3, BOOKINGS = 500, BOOKINGS_PER_REPORT = 5;
  private static final Object LEDGER = new Object();
  private static long total, reports;

  private static long book(long amount) {
    synchronized (LEDGER) {
      total += Work.spin(amount, 5_000) & 7;
      return total;
    }
  }

  private static long report() throws InterruptedException {
    synchronized (LEDGER) {
      reports++;
    }
    Thread.sleep(2);
    return reports;
  }

  private static long work(ExecutorService ledger, boolean isTwin, int number) throws Exception {
    long own = number + 1, seen = 0;
    for (int i = 0; i < BOOKINGS; i++) {
      Thread.sleep(2);
      own = Work.spin(own, 10_000);
      long amount = own;
      if (i % BOOKINGS_PER_REPORT == 0) {
        ledger.submit(LedgerInline::report);
      }
      seen += isTwin ? book(amount) : ledger.submit(() -> book(amount)).get();
    }
    return seen;
  }

  public static void main(String[] args) throws Exception {
    boolean isTwin = Work.isTwin(args);
    ExecutorService ledger = Executors.newSingleThreadExecutor();
    ExecutorService pool = Executors.newFixedThreadPool(3);
    List<Callable<Long>> tasks = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      int number = i;
      tasks.add(() -> work(ledger, isTwin, number));
    }
    long sum = 0;
    for (Future<Long> result : pool.invokeAll(tasks)) {
      sum += result.get() >= 0 ? 1 : 0;
    }
    pool.shutdown();
    ledger.shutdown();
    if (!ledger.awaitTermination(1, TimeUnit.MINUTES)) {
      throw new IllegalStateException("reports that never end");
    }
    System.out.println(sum + total + reports);
  }
}
