/** A static synchronized method that touches nothing but what its caller gives it; the twin's is not synchronized. */
public final class DropPrivate {
  private static final int ROUNDS = 20_000;

  private static synchronized long digest(long seed) {
    return Work.spin(seed, 15_000);
  }

  private static long freeDigest(long seed) {
    return Work.spin(seed, 15_000);
  }

  public static void main(String[] args) throws Exception {
    boolean isTwin = Work.isTwin(args);
    Work.inThreads(3, thread -> {
      long own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        own = isTwin ? freeDigest(own) : digest(own);
        own = Work.spin(own, 5_000);
      }
      return own;
    });
  }
}
