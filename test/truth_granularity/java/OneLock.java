import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/** Every item is worked on under one lock, so that one thread works at a time however the tasks are cut. The setting is the tasks. */
public final class OneLock {
  private static final int ITEMS = 1 << 10;
  private static final int TASKS = 256;
  private static final int STEPS = 600_000;
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static long sum;

  private static void work(int from, int to) {
    for (int item = from; item < to; item++) {
      LOCK.lock();
      try {
        sum += Work.items(item, item + 1, STEPS);
      } finally {
        LOCK.unlock();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int tasks = Work.setting(args, TASKS);
    ExecutorService pool = Executors.newFixedThreadPool(2);
    List<Future<?>> done = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      int from = Work.first(ITEMS, tasks, task);
      int to = Work.first(ITEMS, tasks, task + 1);
      done.add(pool.submit(() -> work(from, to)));
    }
    for (Future<?> one : done) {
      one.get();
    }
    pool.shutdown();
    Work.print(sum);
  }
}
