package inline_first_of_batch;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import truth.Load;
import truth.Work;

/** Each request hands out three parts, and does one itself where it would wait for it. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 40, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    List<Future<Integer>> parts = new ArrayList<>();
    FutureTask<Integer> first = new FutureTask<>(() -> part(number));
    parts.add(first);
    for (int i = 1; i < 4; i++) {
      parts.add(startPart(number + i));
    }
    long sum = 0;
    first.run();
    for (Future<Integer> part : parts) {
      sum += part.get();
    }
    return sum;
  }

  private static Future<Integer> startPart(int id) {
    return POOL.submit(() -> part(id));
  }

  private static int part(int id) {
    Work.waitMs(10);
    return id % 23;
  }
}
