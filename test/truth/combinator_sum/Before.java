package combinator_sum;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** A task that only starts two others and adds their results. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(12);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 70, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return parallelSum(number).get();
  }

  private static Future<Integer> parallelSum(int number) {
    return POOL.submit(() -> {
      Future<Integer> first = POOL.submit(() -> longOperation1(number));
      Future<Integer> second = POOL.submit(() -> longOperation2(number));
      return first.get() + second.get();
    });
  }

  private static int longOperation1(int number) {
    Work.waitMs(9);
    return number % 17;
  }

  private static int longOperation2(int number) {
    Work.waitMs(15);
    return number % 19;
  }
}
