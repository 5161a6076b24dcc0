package programs;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.atomic.AtomicInteger;

/** Fibonacci by fork-join: one sub-task forked, the other computed in place. */
public final class ForkJoinFib {
  private static final AtomicInteger FORKS = new AtomicInteger();
  private static final AtomicInteger JOINS = new AtomicInteger();

  public static void main(String[] arguments) throws Exception {
    ForkJoinPool pool = new ForkJoinPool(4);
    int result = pool.invoke(new Fib(16));
    Facts.finish(pool);
    // The outermost task is handed over by invoke, which also waits for it.
    Facts.print("tasks", FORKS.get() + 1, "forks", FORKS.get(), "waits", JOINS.get() + 1, "result", result);
  }

  private static final class Fib extends RecursiveTask<Integer> {
    private static final long serialVersionUID = 1;
    private final int n;

    Fib(int n) {
      this.n = n;
    }

    @Override
    protected Integer compute() {
      if (n < 2) {
        return n;
      }
      Fib left = new Fib(n - 1);
      FORKS.incrementAndGet();
      left.fork();
      int right = new Fib(n - 2).compute();
      JOINS.incrementAndGet();
      return left.join() + right;
    }
  }
}
