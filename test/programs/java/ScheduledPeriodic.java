package programs;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A fixed-rate and a fixed-delay task of five runs each; the last run of each throws, which ends it. */
public final class ScheduledPeriodic {
  public static void main(String[] arguments) throws Exception {
    ScheduledExecutorService pool = new ScheduledThreadPoolExecutor(2);
    AtomicInteger rate = new AtomicInteger();
    AtomicInteger delay = new AtomicInteger();
    ScheduledFuture<?> atRate = pool.scheduleAtFixedRate(() -> run(rate), 1, 3, TimeUnit.MILLISECONDS);
    ScheduledFuture<?> withDelay = pool.scheduleWithFixedDelay(() -> run(delay), 1, 3, TimeUnit.MILLISECONDS);
    int exceptions = 0;
    for (ScheduledFuture<?> future : List.of(atRate, withDelay)) {
      try {
        future.get();
      } catch (ExecutionException e) {
        exceptions++;
      }
    }
    Facts.finish(pool);
    Facts.print("tasks", 2, "runs", rate.get() + delay.get(), "waits", 2, "exceptions", exceptions);
  }

  private static void run(AtomicInteger count) {
    if (count.incrementAndGet() == 5) {
      throw new IllegalStateException("the last run");
    }
  }
}
