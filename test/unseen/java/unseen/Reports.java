package unseen;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Monthly reports, each a task of 100 to 200 ms that makes many small strings and maps, so that the collector works. A report hands its
 * chart to the same pool and waits for it at once. Twin "inline": it draws the chart itself.
 */
public final class Reports {
  private final ExecutorService pool = Executors.newCachedThreadPool();
  private final boolean inline;

  private Reports(boolean inline) {
    this.inline = inline;
  }

  public static void main(String[] arguments) throws Exception {
    Reports program = new Reports(Stopwatch.isTwin(arguments, "inline"));
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int quarter = 0; quarter < 4; quarter++) {
      List<Future<Integer>> months = new ArrayList<>();
      for (int month = 0; month < 3; month++) {
        final int number = quarter * 3 + month;
        months.add(program.pool.submit(() -> program.report(number)));
      }
      for (Future<Integer> month : months) {
        sum += month.get();
      }
    }
    watch.print(sum);
    program.pool.shutdown();
  }

  private int report(int month) throws Exception {
    Map<String, Integer> totals = new HashMap<>();
    for (int i = 0; i < 150_000; i++) {
      totals.merge("customer-" + i * 31 % 5000 + "/" + month, i % 100, Integer::sum);
    }
    int chart = inline ? chart(totals) : drawn(totals);
    return chart + totals.size();
  }

  private int drawn(Map<String, Integer> totals) throws Exception {
    Future<Integer> chart = pool.submit(() -> chart(totals));
    return chart.get();
  }

  private static int chart(Map<String, Integer> totals) {
    int hash = 0;
    for (int round = 0; round < 12; round++) {
      List<String> bars = new ArrayList<>();
      totals.forEach((name, value) -> bars.add(name + ": " + "#".repeat(value % 40)));
      bars.sort(null);
      hash = hash * 31 + bars.hashCode();
    }
    return hash & 0xFFFF;
  }
}
