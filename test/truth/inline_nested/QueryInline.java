package inline_nested;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** A request is a task that waits for another, which does its own query. */
public final class QueryInline {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(40);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.open(POOL, 150, QueryInline::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return startProfile(number).get();
  }

  private static Future<Long> startProfile(int user) {
    return POOL.submit(() -> loadProfile(user));
  }

  private static long loadProfile(int user) throws Exception {
    int row = query(user);
    Work.waitMs(6);
    return row * 3L;
  }

  private static int query(int user) {
    Work.waitMs(12);
    return user % 97;
  }
}
