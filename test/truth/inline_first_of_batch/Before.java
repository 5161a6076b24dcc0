package inline_first_of_batch;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** Each request hands out four equal parts of its work in a loop, and only waits while a full pool does them. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 40, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    List<Future<Integer>> parts = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      parts.add(startPart(number + i));
    }
    long sum = 0;
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
