import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Steps of a simulation, each a batch of callables for invokeAll, which waits for the last. The setting is the tasks of a step. */
public final class FineRounds {
  private static final int ROUNDS = 2500;
  private static final int CELLS = 256;
  private static final int STEPS = 200;

  public static void main(String[] args) throws Exception {
    int tasks = Work.setting(args, CELLS);
    ExecutorService pool = Executors.newFixedThreadPool(2);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<Callable<Long>> batch = new ArrayList<>(tasks);
      for (int task = 0; task < tasks; task++) {
        int from = Work.first(CELLS, tasks, task);
        int to = Work.first(CELLS, tasks, task + 1);
        batch.add(() -> Work.items(from, to, STEPS));
      }
      for (Future<Long> result : pool.invokeAll(batch)) {
        sum += result.get();
      }
    }
    pool.shutdown();
    Work.print(sum);
  }
}
