import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tasks of a millisecond or two on a pool of two, neither too small nor too large. The setting is the tasks of a round. */
public final class RightSized {
  private static final int ROUNDS = 8;
  private static final int ITEMS = 1 << 10;
  private static final int TASKS = 256;
  private static final int STEPS = 150_000;

  public static void main(String[] args) throws Exception {
    int tasks = Work.setting(args, TASKS);
    ExecutorService pool = Executors.newFixedThreadPool(2);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<Future<Long>> results = new ArrayList<>();
      for (int task = 0; task < tasks; task++) {
        int from = Work.first(ITEMS, tasks, task);
        int to = Work.first(ITEMS, tasks, task + 1);
        results.add(pool.submit(() -> Work.items(from, to, STEPS)));
      }
      for (Future<Long> result : results) {
        sum += result.get();
      }
    }
    pool.shutdown();
    Work.print(sum);
  }
}
