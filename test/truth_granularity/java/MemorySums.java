import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/**
 * Sums of small blocks of an array of 64 MB: the cores share the memory and its caches. Tasks are handed out by execute and counted by a
 * latch. The setting is the tasks of a round.
 */
public final class MemorySums {
  private static final int ROUNDS = 64;
  private static final int ELEMENTS = 1 << 23;
  private static final int BLOCKS = 1 << 14;

  private static void round(ExecutorService pool, long[] values, LongAdder sum, int tasks) throws InterruptedException {
    CountDownLatch latch = new CountDownLatch(tasks);
    for (int task = 0; task < tasks; task++) {
      int from = Work.first(ELEMENTS, tasks, task);
      int to = Work.first(ELEMENTS, tasks, task + 1);
      pool.execute(() -> {
        sum.add(sumOf(values, from, to));
        latch.countDown();
      });
    }
    latch.await();
  }

  private static long sumOf(long[] values, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += values[i];
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    int tasks = Work.setting(args, BLOCKS);
    ExecutorService pool = Executors.newWorkStealingPool(2);
    long[] values = new long[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
      values[i] = i * 0x9E3779B97F4A7C15L;
    }
    LongAdder sum = new LongAdder();
    for (int round = 0; round < ROUNDS; round++) {
      round(pool, values, sum, tasks);
    }
    pool.shutdown();
    Work.print(sum.sum());
  }
}
