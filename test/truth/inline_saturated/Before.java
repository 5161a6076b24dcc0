package inline_saturated;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** Reports that wait for their query fill the pool, so that queries queue. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(5);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(4, 50, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    Future<Integer> report = startReport(number);
    Work.waitMs(2);
    return report.get();
  }

  private static Future<Integer> startReport(int number) {
    return POOL.submit(() -> report(number));
  }

  private static int report(int number) throws Exception {
    int rows = startQuery(number).get();
    return rows * 2;
  }

  private static Future<Integer> startQuery(int number) {
    return POOL.submit(() -> query(number));
  }

  private static int query(int number) {
    Work.waitMs(14);
    return number % 31;
  }
}
