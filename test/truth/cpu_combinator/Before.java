package cpu_combinator;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** A coordinator over two computations, with a pool thread more than there are cores. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(3);

  public static void main(String[] arguments) throws Exception {
    Work.warmSpin();
    System.out.println("result " + Load.closed(1, 80, Before::serve));
    Work.printSpent();
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startTotal(number).get();
  }

  private static Future<Long> startTotal(int number) {
    return POOL.submit(() -> total(number));
  }

  private static long total(int number) throws Exception {
    Future<Long> left = POOL.submit(() -> part(number, 7_000));
    Future<Long> right = POOL.submit(() -> part(number + 1, 4_000));
    return left.get() + right.get();
  }

  private static long part(int seed, int thousands) {
    return Work.spin(seed, thousands);
  }
}
