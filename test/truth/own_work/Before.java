package own_work;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Work;

/** The main thread hands each page's query to a pool and pauses in between; a feeder of its own, which nobody joins, goes on beside it. */
public final class Before {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

  public static void main(String[] arguments) throws Exception {
    CountDownLatch fed = new CountDownLatch(1);
    new Thread(() -> feed(fed), "feeder").start();
    long sum = 0;
    for (int page = 0; page < 30; page++) {
      sum += query(page);
      Work.waitMs(10);
    }
    fed.await();
    System.out.println("result " + sum);
    POOL.shutdown();
  }

  private static int query(int page) throws Exception {
    return POOL.submit(() -> lookUp(page)).get();
  }

  private static int lookUp(int page) {
    Work.waitMs(20);
    return 18 + page % 60;
  }

  private static void feed(CountDownLatch fed) {
    try {
      for (int i = 0; i < 40; i++) {
        POOL.submit(() -> Work.waitMs(25)).get();
      }
    } catch (Exception exception) {
      throw new IllegalStateException(exception);
    }
    fed.countDown();
  }
}
