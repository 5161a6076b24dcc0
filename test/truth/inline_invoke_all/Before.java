package inline_invoke_all;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** invokeAll over one slow task and two that are over at once. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(8);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 70, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    List<Callable<Integer>> parts = new ArrayList<>();
    parts.add(() -> remote(number));
    parts.add(() -> local(number));
    parts.add(() -> local(number + 1));
    return runAll(parts);
  }

  private static long runAll(List<Callable<Integer>> parts) throws Exception {
    long sum = 0;
    for (Future<Integer> part : POOL.invokeAll(parts)) {
      sum += part.get();
    }
    return sum;
  }

  private static int remote(int id) {
    Work.waitMs(14);
    return id % 50;
  }

  private static int local(int id) {
    return id % 7;
  }
}
