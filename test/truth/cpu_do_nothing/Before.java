package cpu_do_nothing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** Two halves of a computation on a pool of as many threads as there are cores. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(2);

  public static void main(String[] arguments) throws Exception {
    Work.warmSpin();
    System.out.println("result " + Load.closed(1, 60, Before::serve));
    Work.printSpent();
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    List<Future<Long>> halves = new ArrayList<>();
    for (int k = 0; k < 2; k++) {
      halves.add(startHalf(number + k));
    }
    return halves.get(0).get() + halves.get(1).get();
  }

  private static Future<Long> startHalf(int seed) {
    return POOL.submit(() -> half(seed));
  }

  private static long half(int seed) {
    return Work.spin(seed, 8_000);
  }
}
