package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tasks that block on a monitor which another task holds, and one that waits to be notified. */
public final class MonitorContention {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    Object monitor = new Object();
    int[] count = {0};
    List<Future<?>> futures = new ArrayList<>();
    futures.add(pool.submit(() -> {
      synchronized (monitor) {
        while (count[0] < 12) {
          monitor.wait();
        }
      }
      return null;
    }));
    for (int i = 0; i < 12; i++) {
      futures.add(pool.submit(() -> {
        synchronized (monitor) {
          Thread.sleep(3);
          count[0]++;
          monitor.notifyAll();
        }
        return null;
      }));
    }
    for (Future<?> future : futures) {
      future.get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 13, "ends", 13, "waits", 13, "workers", 4, "count", count[0], "synchronized", 26,
        "synchronized_first", 17);
  }
}
