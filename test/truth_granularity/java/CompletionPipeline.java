import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A pipeline of three stages: a thread hands out tiny tasks, a pool works on them, and the main thread takes their results from an
 * ExecutorCompletionService as they come, and works on each. The setting is the tasks of a round.
 */
public final class CompletionPipeline {
  private static final int ROUNDS = 32;
  private static final int ITEMS = 1 << 14;
  private static final int STEPS = 400;
  private static final int STEPS_AFTER = 50;

  private static void handOut(ExecutorCompletionService<Long> service, int tasks) {
    for (int task = 0; task < tasks; task++) {
      int from = Work.first(ITEMS, tasks, task);
      int to = Work.first(ITEMS, tasks, task + 1);
      service.submit(() -> Work.items(from, to, STEPS));
    }
  }

  private static long round(ExecutorService pool, int tasks) throws Exception {
    ExecutorCompletionService<Long> service = new ExecutorCompletionService<>(pool);
    Thread first = new Thread(() -> handOut(service, tasks), "hands out");
    first.start();
    long sum = 0;
    for (int taken = 0; taken < tasks; taken++) {
      sum += service.take().get();
      sum += Work.items(Work.first(ITEMS, tasks, taken), Work.first(ITEMS, tasks, taken + 1), STEPS_AFTER);
    }
    first.join();
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
