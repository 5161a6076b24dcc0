package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A scheduled pool of one thread samples eight sensors every 40 ms, each of which takes 8 ms to answer: it falls behind, so that a hundred
 * samples take far longer than planned. Twins: more threads.
 */
public final class Metrics {
  private static final int SAMPLES = 12;

  public static void main(String[] arguments) throws Exception {
    ScheduledExecutorService clock = Executors.newScheduledThreadPool(Stopwatch.size(arguments, 1));
    Stopwatch watch = new Stopwatch();
    List<AtomicInteger> counts = new ArrayList<>();
    CountDownLatch done = new CountDownLatch(8 * SAMPLES);
    for (int sensor = 0; sensor < 8; sensor++) {
      AtomicInteger count = new AtomicInteger();
      counts.add(count);
      clock.scheduleAtFixedRate(() -> sample(count, done), 0, 40, TimeUnit.MILLISECONDS);
    }
    done.await();
    watch.print(counts.stream().mapToInt(count -> Math.min(SAMPLES, count.get())).sum());
    clock.shutdownNow();
  }

  private static void sample(AtomicInteger count, CountDownLatch done) {
    if (count.get() >= SAMPLES) {
      return;
    }
    try {
      Thread.sleep(8);
    } catch (InterruptedException e) {
      return;
    }
    count.incrementAndGet();
    done.countDown();
  }
}
