package unseen;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Heat in a rod: two threads step by step with a barrier. Each writes its half to a store after each step, through a pool of one, and waits
 * for that. Twin "inline": each writes itself; "2": two writers.
 */
public final class Heat {
  private static final int STEPS = 60, CELLS = 40_000;
  private final double[][] rods = new double[2][CELLS + 2];
  private final CyclicBarrier barrier = new CyclicBarrier(2);
  private final ExecutorService store;
  private final boolean inline;

  private Heat(String[] arguments) {
    store = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    inline = Stopwatch.isTwin(arguments, "inline");
    rods[0][CELLS / 2] = 1e6;
  }

  public static void main(String[] arguments) throws Exception {
    Heat program = new Heat(arguments);
    Stopwatch watch = new Stopwatch();
    Thread left = new Thread(() -> program.simulate(1, CELLS / 2), "left");
    Thread right = new Thread(() -> program.simulate(CELLS / 2 + 1, CELLS), "right");
    left.start();
    right.start();
    left.join();
    right.join();
    long sum = 0;
    for (double cell : program.rods[STEPS % 2]) {
      sum += Math.round(cell);
    }
    watch.print(sum);
    program.store.shutdown();
  }

  private void simulate(int from, int to) {
    try {
      for (int step = 0; step < STEPS; step++) {
        double[] now = rods[step % 2], next = rods[(step + 1) % 2];
        for (int round = 0; round < 20; round++) {
          for (int i = from; i <= to; i++) {
            next[i] = now[i] + 0.2 * (now[i - 1] - 2 * now[i] + now[i + 1]);
          }
        }
        if (inline) {
          write(step);
        } else {
          saved(step).get();
        }
        barrier.await();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private Future<Integer> saved(int step) {
    return store.submit(() -> write(step));
  }

  private static int write(int step) throws InterruptedException {
    Thread.sleep(3 + step % 3);
    return step;
  }
}
