/** Two threads that want one monitor, and a third whose pauses make the run as long as it is. The twin's monitor is gone. */
public final class KeepPaced {
  private static final int ROUNDS = 2_000;
  private static final Object SHARED = new Object();

  private static long inside(long seed) {
    synchronized (SHARED) {
      return Work.spin(seed, 30_000);
    }
  }

  private static long free(long seed) {
    return Work.spin(seed, 30_000);
  }

  public static void main(String[] args) throws Exception {
    boolean isTwin = Work.isTwin(args);
    Work.inThreads(3, thread -> {
      long own = thread + 1;
      if (thread == 2) {
        for (int i = 0; i < 120; i++) {
          Thread.sleep(10);
        }
        return own;
      }
      for (int i = 0; i < ROUNDS; i++) {
        own = isTwin ? free(own) : inside(own);
        own = Work.spin(own, 5_000);
      }
      return own;
    });
  }
}
