package inline_nested;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** Every request is one task that does its own work. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(40);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.open(POOL, 150, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    return loadProfile(number);
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
