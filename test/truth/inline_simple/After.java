package inline_simple;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** The query runs on the thread that needs its result. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(8);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 70, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    int age = queryAge(number);
    Work.waitMs(4);
    return age;
  }

  private static int queryAge(int id) throws Exception {
    return queryDatabase(id);
  }

  private static int queryDatabase(int id) {
    return lookUp(id);
  }

  private static int lookUp(int id) {
    Work.waitMs(9);
    return 18 + id % 60;
  }
}
