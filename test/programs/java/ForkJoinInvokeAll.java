package programs;

import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.atomic.AtomicInteger;

/** A recursive action whose halves are handed over by ForkJoinTask.invokeAll. */
public final class ForkJoinInvokeAll {
  private static final AtomicInteger BODIES = new AtomicInteger();
  private static final AtomicInteger INNER = new AtomicInteger();

  public static void main(String[] arguments) throws Exception {
    int[] values = new int[1 << 10];
    ForkJoinPool pool = new ForkJoinPool(4);
    pool.submit(new Increment(values, 0, values.length)).get();
    Facts.finish(pool);
    // A binary tree with leaves of 64 values: 16 leaves, 15 inner tasks.
    Facts.print("tasks", 31, "ends", BODIES.get(), "invoke_all", INNER.get(), "sum", Arrays.stream(values).sum());
  }

  private static final class Increment extends RecursiveAction {
    private static final long serialVersionUID = 1;
    private final transient int[] values;
    private final int from;
    private final int to;

    Increment(int[] values, int from, int to) {
      this.values = values;
      this.from = from;
      this.to = to;
    }

    @Override
    protected void compute() {
      if (to - from <= 64) {
        for (int i = from; i < to; i++) {
          values[i]++;
        }
      } else {
        int middle = (from + to) / 2;
        invokeAll(new Increment(values, from, middle), new Increment(values, middle, to));
        INNER.incrementAndGet();
      }
      BODIES.incrementAndGet();
    }
  }
}
