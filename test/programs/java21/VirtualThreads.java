package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Virtual threads by themselves, and one for each task of an executor; they sleep, so carriers change. */
public final class VirtualThreads {
  public static void main(String[] arguments) throws Exception {
    AtomicInteger ran = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      threads.add(Thread.ofVirtual().start(() -> {
        sleep();
        ran.incrementAndGet();
      }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    int sum = 0;
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> futures = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        futures.add(pool.submit(() -> {
          sleep();
          return ran.incrementAndGet() > 0 ? 1 : 0;
        }));
      }
      for (Future<Integer> future : futures) {
        sum += future.get();
      }
    }
    Facts.print("virtual_threads", 1200, "tasks", sum, "ends", ran.get(), "waits", 1200);
  }

  private static void sleep() {
    try {
      Thread.sleep(2);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
