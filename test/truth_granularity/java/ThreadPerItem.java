import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** A thread for every item, started in a loop, far more than there are cores. The setting is the threads of a round. */
public final class ThreadPerItem {
  private static final int ROUNDS = 30;
  private static final int ITEMS = 256;
  private static final int STEPS = 20_000;

  private static void round(LongAdder sum, int count) throws InterruptedException {
    List<Thread> threads = new ArrayList<>(count);
    for (int thread = 0; thread < count; thread++) {
      int from = Work.first(ITEMS, count, thread);
      int to = Work.first(ITEMS, count, thread + 1);
      Thread started = new Thread(() -> sum.add(Work.items(from, to, STEPS)));
      started.start();
      threads.add(started);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  public static void main(String[] args) throws Exception {
    int threads = Work.setting(args, ITEMS);
    LongAdder sum = new LongAdder();
    for (int round = 0; round < ROUNDS; round++) {
      round(sum, threads);
    }
    Work.print(sum.sum());
  }
}
