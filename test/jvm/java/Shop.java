package places.shop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import places.library.Scheduler;

/** Hands tasks out through a library, and by itself: each line that must be named is marked. */
public final class Shop {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(2);

  public static void main(String[] arguments) throws Exception {
    Scheduler scheduler = new Scheduler(2);
    List<Future<Integer>> results = new ArrayList<>();
    for (int i = 0; i < 8; ++i) results.add(scheduler.later(Shop::load));  // via the library
    int sum = 0;
    for (Future<Integer> result : results) sum += result.get();
    sum += POOL.submit(Shop::load).get();  // by itself
    sum += POOL.submit(Shop::both).get();
    sum += new ForkJoinPool(2).invoke(new Sum(2));
    ExecutorService clerks = Executors.newFixedThreadPool(2);
    sum += clerks.submit(() -> taxed(clerks)).get();
    clerks.shutdown();
    sum += POOL.submit(() -> load() + 1).get(60, TimeUnit.SECONDS);  // by a timed get
    sum += CompletableFuture.supplyAsync(Shop::slowly, POOL).orTimeout(60, TimeUnit.SECONDS).join();  // under a limit
    POOL.shutdown();
    scheduler.close();
    System.out.println("sum " + sum);
  }

  /** Forks both halves, and joins them. */
  static final class Sum extends RecursiveTask<Integer> {
    private static final long serialVersionUID = 1;
    private final int depth;

    Sum(int depth) {
      this.depth = depth;
    }

    @Override
    protected Integer compute() {
      if (depth == 0) return 1;
      Sum left = new Sum(depth - 1), right = new Sum(depth - 1);
      left.fork();
      right.fork();
      return right.join() + left.join();  // joins
    }
  }

  static int load() {
    return 1;
  }

  /** Not done when a limit is set to it. */
  static int slowly() {
    LockSupport.parkNanos(50_000_000);
    return 1;
  }

  static int both() throws Exception {
    Future<Integer> one = POOL.submit(Shop::load);
    return one.get() + 1;  // waits
  }

  static int taxed(ExecutorService workers) throws Exception {
    Future<Integer> tax = workers.submit(Shop::load);
    return tax.get() + 1;  // waits for the tax
  }
}
