import java.util.concurrent.locks.ReentrantLock;

/** Four threads, four accounts, one ReentrantLock; the twin has a lock for each pair of accounts. Sections of 200 us. */
public final class SplitCrowd {
  private static final int ROUNDS = 1_500;
  private static final ReentrantLock ACCOUNTS = new ReentrantLock();
  private static final long[] balance = {1, 2, 3, 4};

  private static long low(ReentrantLock lock, int account) {
    lock.lock();
    try {
      balance[account] = Work.spin(balance[account], 100_000);
      return balance[account];
    } finally {
      lock.unlock();
    }
  }

  private static long high(ReentrantLock lock, int account) {
    lock.lock();
    try {
      balance[account] = Work.spin(balance[account], 100_000);
      return balance[account];
    } finally {
      lock.unlock();
    }
  }

  public static void main(String[] args) throws Exception {
    ReentrantLock other = Work.isTwin(args) ? new ReentrantLock() : ACCOUNTS;
    Work.inThreads(4, thread -> {
      long sum = 0, own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        sum += thread < 2 ? low(ACCOUNTS, thread) : high(other, thread);
        own = Work.spin(own, 20_000);
      }
      return sum + own;
    });
  }
}
