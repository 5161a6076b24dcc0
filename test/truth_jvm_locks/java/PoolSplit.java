import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tasks of a pool of four that take one of two journals under one monitor; the twin has a monitor for each journal. */
public final class PoolSplit {
  private static final int TASKS = 2_400;
  private static final Object JOURNALS = new Object();
  private static long orders = 1, bills = 2;

  private static long order(Object lock) {
    synchronized (lock) {
      orders = Work.spin(orders, 120_000);
      return orders & 1;
    }
  }

  private static long bill(Object lock) {
    synchronized (lock) {
      bills = Work.spin(bills, 120_000);
      return bills & 1;
    }
  }

  public static void main(String[] args) throws Exception {
    Object other = Work.isTwin(args) ? new Object() : JOURNALS;
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Long>> results = new ArrayList<>();
    for (int i = 0; i < TASKS; i++) {
      int number = i;
      results.add(pool.submit(() -> {
        long own = Work.spin(number + 1, 60_000) & 1;
        return own + (number % 2 == 0 ? order(JOURNALS) : bill(other));
      }));
    }
    long sum = 0;
    for (Future<Long> result : results) {
      sum += result.get();
    }
    pool.shutdown();
    System.out.println(sum >= 0 ? orders + bills : 0);
  }
}
