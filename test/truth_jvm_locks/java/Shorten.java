/** Computes what it is going to add while it holds the monitor already; the twin computes first. */
public final class Shorten {
  private static final int ROUNDS = 8_000;
  private long total;

  private long addLate(long seed) {
    synchronized (this) {
      long more = Work.spin(seed, 40_000);
      total += more;
      return more;
    }
  }

  private long addEarly(long seed) {
    long more = Work.spin(seed, 40_000);
    synchronized (this) {
      total += more;
      return more;
    }
  }

  public static void main(String[] args) throws Exception {
    boolean isTwin = Work.isTwin(args);
    Shorten sums = new Shorten();
    Work.inThreads(2, thread -> {
      long own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        own = isTwin ? sums.addEarly(own) : sums.addLate(own);
        own = Work.spin(own, 10_000);
      }
      return own;
    });
  }
}
