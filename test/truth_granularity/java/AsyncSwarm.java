import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/**
 * A swarm of CompletableFuture.runAsync on the common pool, awaited together. The setting is the tasks of a round. On two cores the
 * common pool has one worker and runAsync takes a new thread each time, unless the pool is given two (cases.json does).
 */
public final class AsyncSwarm {
  private static final int ROUNDS = 24;
  private static final int ITEMS = 1 << 15;
  private static final int STEPS = 400;

  private static void round(LongAdder sum, int tasks) {
    CompletableFuture<?>[] swarm = new CompletableFuture<?>[tasks];
    for (int task = 0; task < tasks; task++) {
      int from = Work.first(ITEMS, tasks, task);
      int to = Work.first(ITEMS, tasks, task + 1);
      swarm[task] = CompletableFuture.runAsync(() -> sum.add(Work.items(from, to, STEPS)));
    }
    CompletableFuture.allOf(swarm).join();
  }

  public static void main(String[] args) {
    int tasks = Work.setting(args, ITEMS);
    LongAdder sum = new LongAdder();
    for (int round = 0; round < ROUNDS; round++) {
      round(sum, tasks);
    }
    Work.print(sum.sum());
  }
}
