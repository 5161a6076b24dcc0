package cpu_inline;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** A computation is given to the pool and waited for at once. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

  public static void main(String[] arguments) throws Exception {
    Work.warmSpin();
    System.out.println("result " + Load.closed(2, 90, Before::serve));
    Work.printSpent();
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    long digest = startDigest(number).get();
    Work.waitMs(3);
    return digest;
  }

  private static Future<Long> startDigest(int seed) {
    return POOL.submit(() -> digest(seed));
  }

  private static long digest(int seed) {
    return Work.spin(seed, 4_000);
  }
}
