/** A monitor that is seldom held: the twin does without it, and gains nothing. */
public final class KeepRare {
  private static final int ROUNDS = 8_000;
  private static final Object LOG = new Object();

  private static long log(long seed) {
    synchronized (LOG) {
      return Work.spin(seed, 400);
    }
  }

  private static long freeLog(long seed) {
    return Work.spin(seed, 400);
  }

  public static void main(String[] args) throws Exception {
    boolean isTwin = Work.isTwin(args);
    Work.inThreads(2, thread -> {
      long own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        own = isTwin ? freeLog(own) : log(own);
        own = Work.spin(own, 60_000);
      }
      return own;
    });
  }
}
