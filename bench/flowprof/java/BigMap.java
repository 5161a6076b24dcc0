import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Pages in a map that a lock guards, as BigMap's page factory keeps them: a page that is not there yet is made under the lock, and threads
 * take theirs out again when they are through with them. Each put and each remove changes the map's own count; but for that, threads meet in
 * few pages. Twin: a ConcurrentHashMap instead of the HashMap and its lock (the paper's fix).
 */
final class BigMap {
  private static final int PAGE_LONGS = 1024;
  private static final int OPEN_PAGES = 64;

  interface Pages {
    long[] acquire(long index);

    void remove(long index);
  }

  static final class LockedPages implements Pages {
    private final Map<Long, long[]> pages = new HashMap<>();
    private final Object lock = new Object();

    @Override
    public long[] acquire(long index) {
      synchronized (lock) {
        long[] page = pages.get(index);
        if (page == null) {
          page = load(index);
          pages.put(index, page);
        }
        return page;
      }
    }

    @Override
    public void remove(long index) {
      synchronized (lock) {
        pages.remove(index);
      }
    }
  }

  static final class ConcurrentPages implements Pages {
    private final Map<Long, long[]> pages = new ConcurrentHashMap<>();

    @Override
    public long[] acquire(long index) {
      return pages.computeIfAbsent(index, BigMap::load);
    }

    @Override
    public void remove(long index) {
      pages.remove(index);
    }
  }

  private static long[] load(long index) {
    long[] page = new long[PAGE_LONGS];
    long next = index;
    for (int i = 0; i < PAGE_LONGS; i++) {
      next = next * 6364136223846793005L + 1442695040888963407L;
      page[i] = next;
    }
    return page;
  }

  private static long sum(long[] page) {
    long sum = 0;
    for (long one : page) sum = sum * 31 + one;
    return sum;
  }

  private static long work(Pages pages, long first, int count) {
    long sum = 0;
    for (long i = first; i < first + count; i++) {
      sum += sum(pages.acquire(i));
      if (i % 16 == 0) sum += sum(pages.acquire(Math.max(first, i - 20)));
      if (i - OPEN_PAGES >= first) pages.remove(i - OPEN_PAGES);
    }
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    Pages pages = Crew.isTwin(arguments) ? new ConcurrentPages() : new LockedPages();
    int count = Crew.count(arguments) / Crew.THREADS;
    System.out.println(Crew.run(number -> work(pages, (long) number << 32, count)));
  }
}
