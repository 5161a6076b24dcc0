package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What the programs share: printing what a recording of them must hold, meeting a wait, and ending a pool. */
final class Facts {
  private Facts() {}

  /** One line of JSON from names and counts in turn. */
  static void print(Object... namesAndCounts) {
    StringBuilder line = new StringBuilder("{");
    for (int i = 0; i < namesAndCounts.length; i += 2) {
      line.append(i == 0 ? "" : ",").append('"').append(namesAndCounts[i]).append("\":").append(namesAndCounts[i + 1]);
    }
    System.out.println(line.append('}'));
  }

  /** Returns once the thread sleeps for the result of a future. */
  static void awaitWait(Thread thread) throws InterruptedException {
    while (!(LockSupport.getBlocker(thread) instanceof Future)) {
      Thread.sleep(1);
    }
  }

  static void finish(ExecutorService pool) throws InterruptedException {
    pool.shutdown();
    if (!pool.awaitTermination(60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the pool did not end");
    }
  }
}
