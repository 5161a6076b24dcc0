package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** An executor that overrides its hooks, sorts its queue and casts the Runnables it finds to its own class. */
public final class OwnExecutor {
  public static void main(String[] arguments) throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    OwnPool pool = new OwnPool();
    pool.execute(new Job(0, gate));
    for (int i = 20; i > 0; i--) {
      pool.execute(new Job(i, null));
    }
    gate.countDown();
    Facts.finish(pool);
    boolean sorted = pool.order.equals(IntStream.rangeClosed(0, 20).boxed().toList());
    Facts.print("tasks", 21, "ends", pool.after, "before_hooks", pool.before, "workers", 1, "sorted", sorted);
  }

  private static final class OwnPool extends ThreadPoolExecutor {
    private final List<Integer> order = new ArrayList<>();
    private int before;
    private int after;

    OwnPool() {
      super(1, 1, 1, TimeUnit.SECONDS, new PriorityBlockingQueue<>());
    }

    @Override
    protected void beforeExecute(Thread thread, Runnable task) {
      before++;
      order.add(((Job) task).priority);
    }

    @Override
    protected void afterExecute(Runnable task, Throwable failure) {
      if (task.getClass() == Job.class && failure == null) {
        after++;
      }
    }
  }

  private static final class Job implements Runnable, Comparable<Job> {
    private final int priority;
    private final CountDownLatch gate;

    Job(int priority, CountDownLatch gate) {
      this.priority = priority;
      this.gate = gate;
    }

    @Override
    public void run() {
      try {
        if (gate != null) {
          gate.await();
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public int compareTo(Job other) {
      return Integer.compare(priority, other.priority);
    }
  }
}
