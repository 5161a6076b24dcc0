import java.util.Map;
import java.util.Random;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/**
 * Threads that put into one map of a store in memory, and read from it, as the MVStore part of Renaissance's db-shootout does. Which
 * release of MVStore it is, the class path says: the earlier one puts under the map's lock, the later one does not (the paper's fix).
 */
final class DbShootout {
  private static final int KEYS_PER_THREAD = 20_000;

  private static long work(Map<Long, Long> map, int number, int count) {
    Random random = new Random(number);
    long first = (long) number * KEYS_PER_THREAD, sum = 0;
    for (int i = 0; i < count; i++) {
      long key = first + random.nextInt(KEYS_PER_THREAD);
      map.put(key, key + i);
      if (i % 4 == 0) {
        Long found = map.get(first + random.nextInt(KEYS_PER_THREAD));
        sum += found == null ? 1 : found;
      }
    }
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    Crew.isTwin(arguments);
    int count = Crew.count(arguments) / Crew.THREADS;
    MVStore store = new MVStore.Builder().autoCommitDisabled().open();
    try {
      MVMap<Long, Long> map = store.openMap("shootout");
      long read = Crew.run(number -> work(map, number, count));
      long sum = 0;
      for (Map.Entry<Long, Long> each : map.entrySet()) sum = sum * 31 + each.getKey() * 7 + each.getValue();
      System.out.println(read + " " + map.size() + " " + sum);
    } finally {
      store.closeImmediately();
    }
  }
}
