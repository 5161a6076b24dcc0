package own_work;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Work;

/** The main thread asks for each page itself, and after it has started the feeder it meets no task. */
public final class After {
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

  private static int query(int page) {
    return lookUp(page);
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
