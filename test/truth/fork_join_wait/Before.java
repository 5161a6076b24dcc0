package fork_join_wait;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveTask;
import truth.Load;
import truth.Work;

/** A fork-join task from outside the pool, waited for at once. */
public final class Before {
  private static final ForkJoinPool POOL = new ForkJoinPool(4);

  private static final class Fetch extends RecursiveTask<Integer> {
    private static final long serialVersionUID = 1;
    private final int id;

    Fetch(int id) {
      this.id = id;
    }

    @Override
    protected Integer compute() {
      Work.waitMs(11);
      return id % 41;
    }
  }

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 70, Before::serve));
    POOL.shutdown();
  }

  private static long serve(int number) {
    int fetched = startFetch(number).join();
    Work.waitMs(3);
    return fetched;
  }

  private static ForkJoinTask<Integer> startFetch(int id) {
    return POOL.submit(new Fetch(id));
  }
}
