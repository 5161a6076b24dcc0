package programs;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A task that blocks on a queue which another task feeds: outside the model of tasks and futures. */
public final class QueueFeed {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(2);
    Future<Integer> consumer = pool.submit(() -> {
      int sum = 0;
      for (int i = 0; i < 20; i++) {
        sum += queue.take();
      }
      return sum;
    });
    Future<Integer> producer = pool.submit(() -> {
      for (int i = 0; i < 20; i++) {
        Thread.sleep(2);
        queue.put(i);
      }
      return 20;
    });
    int items = producer.get();
    int sum = consumer.get();
    Facts.finish(pool);
    Facts.print("tasks", 2, "ends", 2, "waits", 2, "violations_min", 1, "items", items, "sum", sum);
  }
}
