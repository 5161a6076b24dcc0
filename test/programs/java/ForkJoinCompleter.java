package programs;

import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A CountedCompleter that forks its leaves and waits for none of them. */
public final class ForkJoinCompleter {
  private static final AtomicInteger FORKS = new AtomicInteger();
  private static final AtomicLong TOTAL = new AtomicLong();

  public static void main(String[] arguments) throws Exception {
    ForkJoinPool pool = new ForkJoinPool(3);
    Sum root = new Sum(null, 0, 64);
    long result = pool.invoke(root);
    Facts.finish(pool);
    // Halves down to single numbers: 64 leaves, 63 inner tasks, all but the root forked.
    Facts.print("tasks", 127, "forks", FORKS.get(), "waits", 1, "result", result);
  }

  private static final class Sum extends CountedCompleter<Long> {
    private static final long serialVersionUID = 1;
    private final int from;
    private final int to;

    Sum(CountedCompleter<?> parent, int from, int to) {
      super(parent);
      this.from = from;
      this.to = to;
    }

    @Override
    public void compute() {
      if (to - from > 1) {
        int middle = (from + to) / 2;
        setPendingCount(2);
        FORKS.addAndGet(2);
        new Sum(this, from, middle).fork();
        new Sum(this, middle, to).fork();
      } else {
        TOTAL.addAndGet(from);
      }
      tryComplete();
    }

    @Override
    public Long getRawResult() {
      return TOTAL.get();
    }
  }
}
