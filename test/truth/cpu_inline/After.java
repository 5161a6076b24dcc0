package cpu_inline;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** The computation runs where its result is needed. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

  public static void main(String[] arguments) throws Exception {
    Work.warmSpin();
    System.out.println("result " + Load.closed(2, 90, After::serve));
    Work.printSpent();
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    long digest = digest(number);
    Work.waitMs(3);
    return digest;
  }

  private static long digest(int seed) {
    return Work.spin(seed, 4_000);
  }
}
