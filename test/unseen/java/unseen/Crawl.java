package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A thread for each of a few visitors; each asks three sources at a time by a cached pool and waits on a latch, then thinks. Little to gain
 * in time; the pool has a thread for each source that is asked. Twin "last": the last source is asked by the visitor's own thread.
 */
public final class Crawl {
  private static final ExecutorService POOL = Executors.newCachedThreadPool();
  private static final AtomicLong SUM = new AtomicLong();

  public static void main(String[] arguments) throws Exception {
    boolean last = Stopwatch.isTwin(arguments, "last");
    Stopwatch watch = new Stopwatch();
    List<Thread> visitors = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      final int visitor = i;
      Thread thread = new Thread(() -> visit(visitor, last), "visitor-" + i);
      thread.start();
      visitors.add(thread);
    }
    for (Thread visitor : visitors) {
      visitor.join();
    }
    watch.print(SUM.get());
    POOL.shutdown();
  }

  private static void visit(int visitor, boolean last) {
    try {
      for (int page = 0; page < 25; page++) {
        final int key = visitor * 100 + page;
        CountDownLatch answers = new CountDownLatch(3);
        POOL.execute(() -> source(key, 5, answers));
        POOL.execute(() -> source(key, 9, answers));
        if (last) {
          source(key, 14, answers);
        } else {
          askSlow(key, answers);
        }
        answers.await();
        Thread.sleep(4);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void askSlow(int key, CountDownLatch answers) {
    POOL.execute(() -> source(key, 14, answers));
  }

  private static void source(int key, int milliseconds, CountDownLatch answers) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    SUM.addAndGet(key % 17 + milliseconds);
    answers.countDown();
  }
}
