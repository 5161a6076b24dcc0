import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** What the programs have in common: computing of a known number of steps, threads, and a result that is printed. */
final class Work {
  private static final int WARM_UP_STEPS = 60_000_000;

  private Work() {}

  interface Body {
    long run(int thread) throws Exception;
  }

  /** Xorshift: nothing of it can be left out. About 2 ns a step. */
  static long spin(long x, int steps) {
    for (int i = 0; i < steps; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  /** `args[0]` says which of the two programs to be. */
  static boolean isTwin(String[] args) {
    long warm = 1;
    for (int done = 0; done < WARM_UP_STEPS; done += 20_000) {
      warm = spin(warm, 20_000);
    }
    if (warm == 0 || args.length != 1 || !args[0].matches("base|twin")) {
      throw new IllegalArgumentException("base or twin");
    }
    return args[0].equals("twin");
  }

  /** Runs the threads and prints the sum of what they yield. */
  static void inThreads(int threads, Body body) throws Exception {
    AtomicLong sum = new AtomicLong();
    List<Thread> started = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int number = t;
      Thread thread = new Thread(() -> {
        try {
          sum.addAndGet(body.run(number));
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      }, "worker-" + t);
      started.add(thread);
      thread.start();
    }
    for (Thread thread : started) {
      thread.join();
    }
    System.out.println(sum.get());
  }
}
