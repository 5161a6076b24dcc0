package unseen;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/**
 * Documents are indexed on one thread, with streams, maps and many short strings, run after run until everything is compiled. Twins: "2"
 * threads; "inline": no pool.
 */
public final class Indexes {
  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    Map<String, Integer> best = new ConcurrentHashMap<>();
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int round = 0; round < 50; round++) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int document = 0; document < 8; document++) {
        final int key = round * 8 + document;
        if (inline) {
          sum += index(key, best);
        } else {
          all.add(handedOut(pool, key, best));
        }
      }
      for (Future<Integer> one : all) {
        sum += one.get();
      }
    }
    watch.print(sum + best.size());
    pool.shutdown();
  }

  private static Future<Integer> handedOut(ExecutorService pool, int key, Map<String, Integer> best) {
    return pool.submit(() -> index(key, best));
  }

  private static int index(int key, Map<String, Integer> best) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 3_000; i++) {
      text.append("word").append((i * 37 + key) % 401).append(i % 9 == 0 ? ". " : " ");
    }
    Map<String, Long> counts = Arrays.stream(text.toString().split("\\W+"))
        .filter(word -> word.length() > 4)
        .collect(Collectors.groupingBy(word -> word.substring(4), Collectors.counting()));
    counts.forEach((word, count) -> best.merge(word, count.intValue(), Math::max));
    return counts.hashCode() & 0xFF;
  }
}
