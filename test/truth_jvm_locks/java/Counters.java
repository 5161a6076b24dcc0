/** Synchronized methods of one object count two things; the twin has an object for each. Short sections of 6 us. */
public final class Counters {
  private static final int ROUNDS = 50_000;
  private long hits = 1, misses = 2;

  private synchronized long hit() {
    hits = Work.spin(hits, 3_000);
    return hits;
  }

  private synchronized long miss() {
    misses = Work.spin(misses, 3_000);
    return misses;
  }

  public static void main(String[] args) throws Exception {
    Counters first = new Counters();
    Counters second = Work.isTwin(args) ? new Counters() : first;
    Work.inThreads(2, thread -> {
      long sum = 0, own = thread + 1;
      for (int i = 0; i < ROUNDS; i++) {
        sum += thread == 0 ? first.hit() : second.miss();
        own = Work.spin(own, 3_000);
      }
      return sum + own;
    });
  }
}
