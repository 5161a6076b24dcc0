package inline_simple;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** A query is given to the pool and waited for at once. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(8);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 70, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    int age = queryAge(number);
    Work.waitMs(4);
    return age;
  }

  private static int queryAge(int id) throws Exception {
    return queryDatabase(id).get();
  }

  private static Future<Integer> queryDatabase(int id) {
    return POOL.submit(() -> lookUp(id));
  }

  private static int lookUp(int id) {
    Work.waitMs(9);
    return 18 + id % 60;
  }
}
