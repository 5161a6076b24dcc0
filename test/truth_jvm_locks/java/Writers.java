import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A reader-writer lock whose readers take the writing side; the twin's take the reading side. One in sixteen writes. */
public final class Writers {
  private static final int ROUNDS = 8_000;
  private static final ReentrantReadWriteLock TABLE = new ReentrantReadWriteLock();
  private static long version = 1;

  private static long look(Lock lock, long seed) {
    lock.lock();
    try {
      return Work.spin(seed + version, 25_000);
    } finally {
      lock.unlock();
    }
  }

  private static void write() {
    TABLE.writeLock().lock();
    try {
      version = Work.spin(1, 25_000);
    } finally {
      TABLE.writeLock().unlock();
    }
  }

  public static void main(String[] args) throws Exception {
    Lock lock = Work.isTwin(args) ? TABLE.readLock() : TABLE.writeLock();
    version = Work.spin(1, 25_000);
    Work.inThreads(2, thread -> {
      long own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        own = look(lock, own);
        if (i % 16 == 0) {
          write();
        }
        own = Work.spin(own, 6_000);
      }
      return own;
    });
  }
}
