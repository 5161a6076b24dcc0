import java.util.concurrent.locks.ReentrantLock;

/** Eight threads on the machine's cores; the lock makes them wait, but the cores would, too. The twin does without it. */
public final class Crowd {
  private static final int ROUNDS = 1_200;
  private static final ReentrantLock LOCK = new ReentrantLock();

  private static long inside(long seed) {
    LOCK.lock();
    try {
      return Work.spin(seed, 20_000);
    } finally {
      LOCK.unlock();
    }
  }

  private static long free(long seed) {
    return Work.spin(seed, 20_000);
  }

  public static void main(String[] args) throws Exception {
    boolean isTwin = Work.isTwin(args);
    Work.inThreads(8, thread -> {
      long own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        own = isTwin ? free(own) : inside(own);
        own = Work.spin(own, 60_000);
      }
      return own;
    });
  }
}
