package unseen;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A timer starts a scan every 10 ms; a scan hands out its probes to a pool of three with a phaser and waits for them before the next scan, so
 * the timer is late. Twins: more workers; "inline": the scan's last word, the summary that it asks the pool for and awaits, in place.
 */
public final class Timers {
  private static final int SCANS = 40, PROBES = 7;

  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 3));
    AtomicLong sum = new AtomicLong();
    CountDownLatch scans = new CountDownLatch(SCANS);
    Timer timer = new Timer("scans", true);
    Stopwatch watch = new Stopwatch();
    timer.scheduleAtFixedRate(new TimerTask() {
      private int number;

      @Override
      public void run() {
        if (number < SCANS) {
          sum.addAndGet(scan(pool, number++, inline));
          scans.countDown();
        }
      }
    }, 0, 10);
    scans.await();
    timer.cancel();
    watch.print(sum.get());
    pool.shutdown();
  }

  private static long scan(ExecutorService pool, int scan, boolean inline) {
    Phaser phaser = new Phaser(1);
    AtomicLong sum = new AtomicLong();
    for (int i = 0; i < PROBES; i++) {
      final int probe = scan * PROBES + i;
      phaser.register();
      pool.execute(() -> {
        sum.addAndGet(probe(probe));
        phaser.arriveAndDeregister();
      });
    }
    phaser.arriveAndAwaitAdvance();
    try {
      return inline ? summary(sum.get()) : summaryOf(pool, sum.get()).get();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Future<Long> summaryOf(ExecutorService pool, long sum) {
    return pool.submit(() -> summary(sum));
  }

  private static int probe(int key) {
    try {
      Thread.sleep(6 + key % 5);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return key % 23;
  }

  private static long summary(long sum) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 3_000; i++) {
      text.append(sum * i % 11).append(' ');
    }
    return text.toString().hashCode() & 0xFF;
  }
}
