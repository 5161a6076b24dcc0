package saturated_clients;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** The same with a pool of six workers. */
public final class LargerPool {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(6);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(9, 30, LargerPool::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    int row = startLookup(number).get();
    return startPage(row).get();
  }

  private static Future<Integer> startLookup(int number) {
    return POOL.submit(() -> lookup(number));
  }

  private static Future<Integer> startPage(int row) {
    return POOL.submit(() -> page(row));
  }

  private static int lookup(int number) {
    Work.waitMs(6);
    return number % 29;
  }

  private static int page(int row) {
    Work.waitMs(row % 2 == 0 ? 4 : 12);
    return row * 2;
  }
}
