import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Look-ups in a map that does not change, each under a lock; the twin takes the reading side of a reader-writer lock. */
public final class Readers {
  private static final int ROUNDS = 12_000;
  private static final int KEYS = 1_000;
  private static final Map<Integer, String> names = new HashMap<>();

  private static long find(Lock lock, int from) {
    lock.lock();
    try {
      long length = 0;
      for (int i = 0; i < 2_000; i++) {
        length += names.get((from + i) % KEYS).length();
      }
      return length;
    } finally {
      lock.unlock();
    }
  }

  public static void main(String[] args) throws Exception {
    Lock lock = Work.isTwin(args) ? new ReentrantReadWriteLock().readLock() : new ReentrantLock();
    for (int i = 0; i < KEYS; i++) {
      names.put(i, "name " + i);
    }
    Work.inThreads(2, thread -> {
      long sum = 0, own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        sum += find(lock, i);
        own = Work.spin(own, 4_000);
      }
      return sum + own;
    });
  }
}
