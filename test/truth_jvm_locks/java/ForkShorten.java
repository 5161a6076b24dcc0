import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

/**
 * Halves a range by fork and join. Each leaf fetches its part while it holds the monitor of the list that the part goes into; the
 * twin fetches before that. The work is waiting.
 */
public final class ForkShorten {
  private static final int LEAVES = 400;
  private static final List<Long> PARTS = new ArrayList<>();

  @SuppressWarnings("serial")
  private static final class Range extends RecursiveAction {
    private final boolean isTwin;
    private final int begin, end;

    Range(boolean isTwin, int begin, int end) {
      this.isTwin = isTwin;
      this.begin = begin;
      this.end = end;
    }

    @Override
    protected void compute() {
      if (end - begin == 1) {
        if (isTwin) {
          addFetched(begin);
        } else {
          addFetching(begin);
        }
        return;
      }
      int middle = (begin + end) / 2;
      invokeAll(new Range(isTwin, begin, middle), new Range(isTwin, middle, end));
    }
  }

  private static void addFetching(int number) {
    synchronized (PARTS) {
      long part = fetch(number);
      PARTS.add(Work.spin(part, 10_000));
    }
  }

  private static void addFetched(int number) {
    long part = fetch(number);
    synchronized (PARTS) {
      PARTS.add(Work.spin(part, 10_000));
    }
  }

  private static long fetch(int number) {
    try {
      Thread.sleep(2);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return number + 1;
  }

  public static void main(String[] args) {
    ForkJoinPool pool = new ForkJoinPool(3);
    pool.invoke(new Range(Work.isTwin(args), 0, LEAVES));
    pool.shutdown();
    long sum = 0;
    for (long part : PARTS) {
      sum += part;
    }
    System.out.println(sum);
  }
}
