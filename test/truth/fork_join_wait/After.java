package fork_join_wait;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import truth.Load;
import truth.Work;

/** The task computes on the thread that asked for it. */
public final class After {
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
    System.out.println("result " + Load.closed(3, 70, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) {
    int fetched = new Fetch(number).compute();
    Work.waitMs(3);
    return fetched;
  }
}
