package unseen;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * Words are counted by fork and join over slow chapters; both halves are forked, and the thread that forked them joins them. Twin "right": the
 * right half is counted in place before the left is joined.
 */
public final class Fold {
  private static boolean rightInPlace;

  public static void main(String[] arguments) {
    rightInPlace = Stopwatch.isTwin(arguments, "right");
    ForkJoinPool pool = new ForkJoinPool(4);
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int book = 0; book < 8; book++) {
      sum += pool.invoke(new Count(book * 64, book * 64 + 64));
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static final class Count extends RecursiveTask<Long> {
    private static final long serialVersionUID = 1;
    private final int from;
    private final int to;

    Count(int from, int to) {
      this.from = from;
      this.to = to;
    }

    @Override
    protected Long compute() {
      if (to - from == 1) {
        return words(from);
      }
      int middle = (from + to) >>> 1;
      Count left = new Count(from, middle), right = new Count(middle, to);
      left.fork();
      if (rightInPlace) {
        return right.compute() + left.join();
      }
      return forked(right).join() + left.join();
    }

    private static Count forked(Count right) {
      right.fork();
      return right;
    }
  }

  private static long words(int chapter) {
    long words = 0;
    for (int i = 0; i < 1_200_000; i++) {
      words += (i * 31 + chapter) % 7 == 0 ? 1 : 0;
    }
    return words;
  }
}
