package unseen;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/** A map is searched by quarters: RecursiveTasks that fork three and compute the fourth; leaves load and count. Twins: a larger pool. */
public final class Quarters {
  private static final class Search extends RecursiveTask<Integer> {
    private final int x, y, size;

    Search(int x, int y, int size) {
      this.x = x;
      this.y = y;
      this.size = size;
    }

    @Override
    protected Integer compute() {
      if (size == 1) {
        return count(x, y);
      }
      int half = size / 2;
      Search east = new Search(x + half, y, half), south = new Search(x, y + half, half), far = new Search(x + half, y + half, half);
      east.fork();
      south.fork();
      far.fork();
      int here = new Search(x, y, half).compute();
      return here + far.join() + south.join() + east.join();
    }
  }

  public static void main(String[] arguments) throws Exception {
    ForkJoinPool pool = new ForkJoinPool(Stopwatch.size(arguments, 2));
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int map = 0; map < 3; map++) {
      sum += pool.invoke(new Search(map, map, 8));
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static int count(int x, int y) {
    try {
      Thread.sleep(5 + (x + y) % 4);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int houses = 0;
    for (int i = 0; i < 40_000; i++) {
      houses += (i * 37 + x * 11 + y * 7) % 89 == 0 ? 1 : 0;
    }
    return houses;
  }
}
