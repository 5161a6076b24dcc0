package traced;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What an event costs: the same loop of calls, of tasks and of clock reads; nanoseconds for each, least of many rounds. */
public final class EventLoop {
  private static int sink;

  public static void main(String[] arguments) throws Exception {
    int rounds = 40;
    int calls = Integer.getInteger("calls", 100_000);
    System.out.printf("clock_ns %.1f%n", least(rounds, calls, () -> clock(calls)));
    System.out.printf("call_ns %.1f%n", least(rounds, calls, () -> calls(calls)));
    ExecutorService pool = Executors.newFixedThreadPool(1);
    int tasks = 10_000;
    System.out.printf("task_ns %.1f%n", least(rounds, tasks, () -> tasks(pool, tasks)));
    pool.shutdown();
  }

  private interface Loop {
    void run() throws Exception;
  }

  private static double least(int rounds, int n, Loop loop) throws Exception {
    long best = Long.MAX_VALUE;
    for (int i = 0; i < rounds; i++) {
      long begin = System.nanoTime();
      loop.run();
      best = Math.min(best, System.nanoTime() - begin);
      Thread.sleep(10);  // the drainer catches up
    }
    return (double) best / n;
  }

  private static void clock(int n) {
    long sum = 0;
    for (int i = 0; i < n; i++) {
      sum += System.nanoTime();
    }
    sink = (int) sum;
  }

  private static void calls(int n) {
    for (int i = 0; i < n; i++) {
      traced(i);
    }
  }

  private static void traced(int i) {
    sink += i;
  }

  private static void tasks(ExecutorService pool, int n) throws Exception {
    Future<?> last = null;
    for (int i = 0; i < n; i++) {
      last = pool.submit(() -> sink++);
    }
    last.get();
  }
}
