/** Two tables under one monitor; the twin has a monitor for each. Sections of 60 us. */
public final class SplitMonitor {
  private static final int ROUNDS = 9_000;
  private static final Object TABLES = new Object();
  private static long a = 1, b = 2;

  private static long updateA(Object lock) {
    synchronized (lock) {
      a = Work.spin(a, 30_000);
      return a;
    }
  }

  private static long updateB(Object lock) {
    synchronized (lock) {
      b = Work.spin(b, 30_000);
      return b;
    }
  }

  public static void main(String[] args) throws Exception {
    Object other = Work.isTwin(args) ? new Object() : TABLES;
    Work.inThreads(2, thread -> {
      long sum = 0, own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        sum += thread == 0 ? updateA(TABLES) : updateB(other);
        own = Work.spin(own, 12_000);
      }
      return sum + own;
    });
  }
}
