package unseen;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

/** Merge sort by fork and join down to parts of forty numbers. Twin "cutoff": parts below 5,000 are sorted in place; "leaves": the last parts are. */
public final class Sorting {
  private static int cutoff = 40;
  private static boolean leavesInPlace;

  public static void main(String[] arguments) {
    if (Stopwatch.isTwin(arguments, "cutoff")) {
      cutoff = 5_000;
    }
    leavesInPlace = Stopwatch.isTwin(arguments, "leaves");
    int[] numbers = new Random(7).ints(1_500_000).toArray();
    ForkJoinPool pool = new ForkJoinPool(2);
    Stopwatch watch = new Stopwatch();
    pool.invoke(new Sort(numbers, new int[numbers.length], 0, numbers.length));
    watch.print(Arrays.hashCode(numbers));
    pool.shutdown();
  }

  private static final class Sort extends RecursiveAction {
    private static final long serialVersionUID = 1;
    private final transient int[] numbers;
    private final transient int[] scratch;
    private final int from;
    private final int to;

    Sort(int[] numbers, int[] scratch, int from, int to) {
      this.numbers = numbers;
      this.scratch = scratch;
      this.from = from;
      this.to = to;
    }

    @Override
    protected void compute() {
      if (to - from <= cutoff) {
        insertionOrLibrary();
        return;
      }
      int middle = (from + to) >>> 1;
      if (leavesInPlace && to - middle <= cutoff) {
        new Sort(numbers, scratch, middle, to).compute();
        new Sort(numbers, scratch, from, middle).compute();
        merge(middle);
        return;
      }
      invokeAll(new Sort(numbers, scratch, from, middle), new Sort(numbers, scratch, middle, to));
      merge(middle);
    }

    private void insertionOrLibrary() {
      Arrays.sort(numbers, from, to);
    }

    private void merge(int middle) {
      System.arraycopy(numbers, from, scratch, from, to - from);
      int left = from, right = middle;
      for (int i = from; i < to; i++) {
        boolean takesLeft = right >= to || left < middle && scratch[left] <= scratch[right];
        numbers[i] = takesLeft ? scratch[left++] : scratch[right++];
      }
    }
  }
}
