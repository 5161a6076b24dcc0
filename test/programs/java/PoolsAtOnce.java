package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A hundred pools, each of which four threads use for the first time at the same moment. */
public final class PoolsAtOnce {
  public static void main(String[] arguments) throws Exception {
    List<ExecutorService> pools = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      pools.add(Executors.newFixedThreadPool(1));
    }
    CyclicBarrier together = new CyclicBarrier(4);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(new Thread(() -> use(pools, together)));
    }
    for (Thread thread : threads) {
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    for (ExecutorService pool : pools) {
      Facts.finish(pool);
    }
    Facts.print("tasks", 400, "ends", 400, "waits", 400 + 4, "threads", 4, "pools", 100);
  }

  private static void use(List<ExecutorService> pools, CyclicBarrier together) {
    try {
      for (ExecutorService pool : pools) {
        together.await();
        pool.submit(() -> 1).get();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
