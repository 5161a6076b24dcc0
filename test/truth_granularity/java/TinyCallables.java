import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A callable for every item, each handed to a pool of two and collected by its future. The setting is the tasks of a round. */
public final class TinyCallables {
  private static final int ROUNDS = 24;
  private static final int ITEMS = 1 << 15;
  private static final int STEPS = 500;

  private static long round(ExecutorService pool, int tasks) throws Exception {
    List<Future<Long>> results = new ArrayList<>(tasks);
    for (int task = 0; task < tasks; task++) {
      int from = Work.first(ITEMS, tasks, task);
      int to = Work.first(ITEMS, tasks, task + 1);
      results.add(pool.submit(() -> Work.items(from, to, STEPS)));
    }
    long sum = 0;
    for (Future<Long> result : results) {
      sum += result.get();
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    int tasks = Work.setting(args, ITEMS);
    ExecutorService pool = Executors.newFixedThreadPool(2);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      sum += round(pool, tasks);
    }
    pool.shutdown();
    Work.print(sum);
  }
}
