package programs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

/**
 * Tasks that hand tasks to their own pool and wait for them, as many at once as it has workers: none is left. Given "nested", two
 * pools do so with each other; "forkjoin", a pool that compensates for workers that wait, and ends.
 */
public final class Starved {
  private static final List<Thread> WAITERS = Collections.synchronizedList(new ArrayList<>());

  public static void main(String[] arguments) throws Exception {
    String kind = arguments[0];
    int workers = 3;
    ExecutorService first = kind.equals("forkjoin") ? new ForkJoinPool(workers) : Executors.newFixedThreadPool(workers);
    ExecutorService second = kind.equals("nested") ? Executors.newFixedThreadPool(workers) : first;
    CountDownLatch all = new CountDownLatch(first == second ? workers : 2 * workers);
    List<Future<Integer>> outer = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      outer.add(first.submit(() -> ask(second, all)));
      if (first != second) {
        outer.add(second.submit(() -> ask(first, all)));
      }
    }
    if (!kind.equals("forkjoin")) {
      all.await();
      for (Thread waiter : List.copyOf(WAITERS)) {
        Facts.awaitWait(waiter);
      }
      System.out.println("starved");
    }
    for (Future<Integer> future : outer) {
      future.get();
    }
    Facts.finish(first);
    System.out.println("done");
  }

  private static int ask(ExecutorService pool, CountDownLatch all) throws Exception {
    WAITERS.add(Thread.currentThread());
    all.countDown();
    all.await();
    return pool.submit(Starved::answer).get();
  }

  private static int answer() {
    return 1;
  }
}
