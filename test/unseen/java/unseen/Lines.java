package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Every line of a file is a task of some ten microseconds; all are handed out, then all are waited for. Two cores share the work, and the
 * queue costs as much again. Twin "inline": a loop; twin "batches": a task for five hundred lines.
 */
public final class Lines {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 40_000; i++) {
      lines.add("2024-0" + (i % 9 + 1) + "-11;item " + i % 977 + ";" + i * 31 % 10_007 + ";" + "remark ".repeat(i % 13));
    }
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int file = 0; file < 3; file++) {
      if (Stopwatch.isTwin(arguments, "inline")) {
        for (String line : lines) {
          sum += parse(line);
        }
      } else if (Stopwatch.isTwin(arguments, "batches")) {
        sum += batches(pool, lines);
      } else {
        sum += eachLine(pool, lines);
      }
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static long eachLine(ExecutorService pool, List<String> lines) throws Exception {
    List<Future<Integer>> results = new ArrayList<>();
    for (String line : lines) {
      results.add(pool.submit(() -> parse(line)));
    }
    long sum = 0;
    for (Future<Integer> result : results) {
      sum += result.get();
    }
    return sum;
  }

  private static long batches(ExecutorService pool, List<String> lines) throws Exception {
    List<Future<Long>> results = new ArrayList<>();
    for (int from = 0; from < lines.size(); from += 500) {
      List<String> batch = lines.subList(from, from + 500);
      results.add(pool.submit(() -> batch.stream().mapToLong(Lines::parse).sum()));
    }
    long sum = 0;
    for (Future<Long> result : results) {
      sum += result.get();
    }
    return sum;
  }

  private static int parse(String line) {
    int hash = 0;
    for (int round = 0; round < 6; round++) {
      for (String field : line.split(";")) {
        hash = hash * 31 + field.trim().length() + field.charAt(0) + round;
      }
    }
    return hash & 0xFF;
  }
}
