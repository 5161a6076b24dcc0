import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Requests that another machine answers after 3 ms, on a pool of four: time passes, cores are idle. The setting is the tasks. */
public final class Sleepers {
  private static final int REQUESTS = 1 << 11;
  private static final int TASKS = 512;
  private static final int STEPS = 5_000;
  private static final int ANSWER_MS = 3;

  private static long ask(int from, int to) throws InterruptedException {
    long sum = 0;
    for (int request = from; request < to; request++) {
      Thread.sleep(ANSWER_MS);
      sum += Work.items(request, request + 1, STEPS);
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    int tasks = Work.setting(args, TASKS);
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Long>> answers = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      int from = Work.first(REQUESTS, tasks, task);
      int to = Work.first(REQUESTS, tasks, task + 1);
      answers.add(pool.submit(() -> ask(from, to)));
    }
    long sum = 0;
    for (Future<Long> answer : answers) {
      sum += answer.get();
    }
    pool.shutdown();
    Work.print(sum);
  }
}
