package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;

/** Tasks that meet at a barrier, a latch, a phaser and a semaphore: blocked on one another, not on results. */
public final class Barriers {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    CyclicBarrier barrier = new CyclicBarrier(3);
    Phaser phaser = new Phaser(3);
    CountDownLatch latch = new CountDownLatch(3);
    Semaphore semaphore = new Semaphore(1);
    List<Future<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      futures.add(pool.submit(() -> {
        barrier.await();
        phaser.arriveAndAwaitAdvance();
        latch.countDown();
        latch.await();
        semaphore.acquire();
        Thread.sleep(3);
        semaphore.release();
        return 1;
      }));
    }
    int sum = 0;
    for (Future<Integer> future : futures) {
      sum += future.get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 3, "ends", 3, "waits", 3, "workers", 3, "sum", sum);
  }
}
