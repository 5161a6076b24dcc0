package truth;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** What the tasks of the truth programs do: wait for a known time, or compute for a known number of steps. */
public final class Work {
  private Work() {}

  /** Apart, for programs that only wait are not to load what it needs within their first task. */
  private static final class Spent {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final LongAdder NS = new LongAdder();
  }

  /** Waits as a blocking call to another machine does. */
  public static void waitMs(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  public static void waitUs(long microseconds) {
    long endNs = System.nanoTime() + microseconds * 1000;
    for (long leftNs = microseconds * 1000; leftNs > 0; leftNs = endNs - System.nanoTime()) {
      LockSupport.parkNanos(leftNs);
    }
  }

  /** Computes thousands of steps, each waiting for the last; how long a step takes is the machine's business. */
  public static long spin(long seed, int thousands) {
    long beginNs = Spent.THREADS.getCurrentThreadCpuTime();
    long value = steps(seed, thousands);
    Spent.NS.add(Spent.THREADS.getCurrentThreadCpuTime() - beginNs);
    return value;
  }

  /**
   * To stderr: the CPU time of all {@link #spin} since {@link #warmSpin}. Two runs that compute the same, of one program or
   * of its twin, can be compared where this is the same too: else the machine had another speed.
   */
  public static void printSpent() {
    System.err.println("work_ns " + Spent.NS.sum());
  }

  private static long steps(long seed, int thousands) {
    long value = seed;
    for (int i = 0; i < thousands * 1000; i++) {
      // No sum or product that a compiler could work out for several steps at once.
      value = (value ^ value >>> 29) * 6364136223846793005L + 1442695040888963407L;
    }
    return value >>> 40;
  }

  /** Has {@link #spin} compiled, so that the first rounds take as long as the last. */
  public static long warmSpin() {
    long sum = 0;
    for (int i = 0; i < 4000; i++) {
      sum += spin(i, 2);
    }
    Spent.NS.reset();
    return sum;
  }
}
