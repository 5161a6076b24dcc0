import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

/** Merge sort by fork and join that forks down to a few elements. The setting is how deep it forks; the sort is the same. */
public final class DeepSort {
  private static final int ROUNDS = 16;
  private static final int ELEMENTS = 1 << 17;
  private static final int DEPTH = 16;

  @SuppressWarnings("serial")
  private static final class Sort extends RecursiveAction {
    private final long[] values, spare;
    private final int from, to, forks;

    Sort(long[] values, long[] spare, int from, int to, int forks) {
      this.values = values;
      this.spare = spare;
      this.from = from;
      this.to = to;
      this.forks = forks;
    }

    @Override
    protected void compute() {
      if (forks == 0) {
        sort(values, spare, from, to);
        return;
      }
      int middle = (from + to) >>> 1;
      invokeAll(new Sort(values, spare, from, middle, forks - 1), new Sort(values, spare, middle, to, forks - 1));
      merge(values, spare, from, middle, to);
    }
  }

  private static void sort(long[] values, long[] spare, int from, int to) {
    if (to - from <= ELEMENTS >> DEPTH) {
      insert(values, from, to);
      return;
    }
    int middle = (from + to) >>> 1;
    sort(values, spare, from, middle);
    sort(values, spare, middle, to);
    merge(values, spare, from, middle, to);
  }

  private static void insert(long[] values, int from, int to) {
    for (int i = from + 1; i < to; i++) {
      long value = values[i];
      int at = i;
      for (; at > from && values[at - 1] > value; at--) {
        values[at] = values[at - 1];
      }
      values[at] = value;
    }
  }

  private static void merge(long[] values, long[] spare, int from, int middle, int to) {
    System.arraycopy(values, from, spare, from, middle - from);
    int left = from;
    int right = middle;
    for (int at = from; left < middle; at++) {
      values[at] = right < to && values[right] < spare[left] ? values[right++] : spare[left++];
    }
  }

  public static void main(String[] args) {
    int depth = Work.level(args, DEPTH);
    ForkJoinPool pool = new ForkJoinPool(2);
    long[] values = new long[ELEMENTS];
    long[] spare = new long[ELEMENTS];
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < ELEMENTS; i++) {
        values[i] = Work.spin(i + round, 2);
      }
      pool.invoke(new Sort(values, spare, 0, ELEMENTS, depth));
      for (int i = 0; i < ELEMENTS; i++) {
        sum = sum * 31 + values[i];
      }
    }
    pool.shutdown();
    Work.print(sum);
  }
}
