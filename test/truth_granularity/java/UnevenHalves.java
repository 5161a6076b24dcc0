/**
 * Queries divided among two threads once and for all, as many each, but those of the second take five times as long. The setting
 * is the threads of a round.
 */
public final class UnevenHalves {
  private static final int ROUNDS = 8;
  private static final int QUERIES = 1 << 10;
  private static final int STEPS = 30_000;

  private static final class QueryThread extends Thread {
    private final int from, to;
    private long found;

    QueryThread(int from, int to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public void run() {
      int middle = Math.min(Math.max(QUERIES / 2, from), to);
      found = Work.items(from, middle, STEPS) + Work.items(middle, to, 5 * STEPS);
    }
  }

  private static long round(int count) throws InterruptedException {
    QueryThread[] threads = new QueryThread[count];
    for (int thread = 0; thread < count; thread++) {
      threads[thread] = new QueryThread(Work.first(QUERIES, count, thread), Work.first(QUERIES, count, thread + 1));
      threads[thread].start();
    }
    long sum = 0;
    for (QueryThread thread : threads) {
      thread.join();
      sum += thread.found;
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    int threads = Work.setting(args, 2);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      sum += round(threads);
    }
    Work.print(sum);
  }
}
