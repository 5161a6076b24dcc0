package cpu_do_nothing;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** The wrong change, made to see that it loses: the halves computed one after the other. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(2);

  public static void main(String[] arguments) throws Exception {
    Work.warmSpin();
    System.out.println("result " + Load.closed(1, 60, After::serve));
    Work.printSpent();
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    long left = half(number);
    long right = half(number + 1);
    return left + right;
  }

  private static long half(int seed) {
    return Work.spin(seed, 8_000);
  }
}
