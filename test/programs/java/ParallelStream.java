package programs;

import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;

/** A parallel stream inside a pool of its own and one in the common pool; how they split is the library's affair. */
public final class ParallelStream {
  public static void main(String[] arguments) throws Exception {
    ForkJoinPool pool = new ForkJoinPool(4);
    long inPool = pool.submit(() -> IntStream.range(0, 20_000).parallel().mapToLong(ParallelStream::cost).sum()).get();
    long inCommon = IntStream.range(0, 20_000).parallel().mapToLong(ParallelStream::cost).sum();
    Facts.finish(pool);
    Facts.print("tasks_min", 1, "submits", 1, "waits_min", 1, "in_pool", inPool, "in_common", inCommon);
  }

  private static long cost(int i) {
    long value = i;
    for (int k = 0; k < 20; k++) {
      value = value * 31 + k;
    }
    return value & 0xff;
  }
}
