package unseen;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Parallel streams over arrays too large for the cache, one after the other: memory is the limit, and the common pool does it all. Nothing is
 * to be gained; twin "sequential" runs each stream on one thread, and loses.
 */
public final class Histogram {
  public static void main(String[] arguments) {
    boolean sequential = Stopwatch.isTwin(arguments, "sequential");
    int[] values = IntStream.range(0, 6_000_000).map(i -> i * 0x9E3779B9 >>> 7).toArray();
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int round = 0; round < 12; round++) {
      final int shift = 3 + round % 5;
      IntStream stream = IntStream.of(values);
      stream = sequential ? stream : stream.parallel();
      Map<Integer, Long> counts =
          stream.map(value -> value >>> shift).filter(value -> value % 3 != 0).boxed()
              .collect(Collectors.groupingBy(value -> value & 63, TreeMap::new, Collectors.counting()));
      sum += counts.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }
    watch.print(sum + ":" + (ForkJoinPool.commonPool().getParallelism() > 0));
  }
}
