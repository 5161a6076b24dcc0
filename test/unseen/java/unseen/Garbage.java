package unseen;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Statistics of regions by year: invokeAll over the years in a loop over the regions. Each task fills large maps and lists, so the collector
 * runs along, and the shared pool has one worker. Twins: "2" workers; "inline": no pool.
 */
public final class Garbage {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int region = 0; region < 10; region++) {
      List<Callable<Integer>> years = new ArrayList<>();
      for (int year = 0; year < 8; year++) {
        final int key = region * 8 + year;
        years.add(() -> statistics(key));
      }
      if (inline) {
        for (Callable<Integer> year : years) {
          sum += year.call();
        }
      } else {
        for (Future<Integer> year : all(pool, years)) {
          sum += year.get();
        }
      }
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static List<Future<Integer>> all(ExecutorService pool, List<Callable<Integer>> years) throws InterruptedException {
    return pool.invokeAll(years);
  }

  private static int statistics(int key) {
    Map<String, List<Integer>> rows = new HashMap<>();
    for (int i = 0; i < 40_000; i++) {
      rows.computeIfAbsent("town " + i * 7 % 1_009, name -> new ArrayList<>()).add(i * key % 10_007);
    }
    int sum = 0;
    for (List<Integer> values : rows.values()) {
      List<Integer> sorted = new ArrayList<>(values);
      Collections.sort(sorted);
      sum += sorted.get(sorted.size() / 2);
    }
    return sum & 0xFFFF;
  }
}
