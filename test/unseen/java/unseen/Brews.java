package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

/**
 * Fork-join tasks that fork one step each and sleep within a {@link ForkJoinPool.ManagedBlocker}, for which the pool of three makes up.
 * Twins: the step called, no blocker around the sleep.
 */
public final class Brews {
  private static final class Kettle implements ForkJoinPool.ManagedBlocker {
    private boolean boiled;

    @Override
    public boolean block() {
      slept(4);
      boiled = true;
      return true;
    }

    @Override
    public boolean isReleasable() {
      return boiled;
    }
  }

  public static void main(String[] arguments) {
    boolean called = Stopwatch.isTwin(arguments, "inline"), managed = !Stopwatch.isTwin(arguments, "plain");
    ForkJoinPool pool = new ForkJoinPool(3);
    Stopwatch watch = new Stopwatch();
    List<ForkJoinTask<Integer>> cups = new ArrayList<>();
    for (int cup = 0; cup < 500; cup++) {
      cups.add(handedOut(pool, cup, called, managed));
    }
    long sum = 0;
    for (ForkJoinTask<Integer> cup : cups) {
      sum += cup.join();
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static ForkJoinTask<Integer> handedOut(ForkJoinPool pool, int cup, boolean called, boolean managed) {
    return pool.submit(() -> brewed(cup, called, managed));
  }

  private static int brewed(int cup, boolean called, boolean managed) throws InterruptedException {
    int leaves;
    if (called) {
      leaves = ground(cup);
    } else {
      ForkJoinTask<Integer> forked = ForkJoinTask.adapt(() -> ground(cup)).fork();
      leaves = forked.join();
    }
    if (managed) {
      ForkJoinPool.managedBlock(new Kettle());
    } else {
      slept(4);
    }
    return leaves + 1;
  }

  private static int ground(int cup) {
    slept(2);
    int dust = cup;
    for (int i = 0; i < 20_000; i++) {
      dust = dust * 31 + i;
    }
    return dust & 0xFF;
  }

  private static void slept(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
