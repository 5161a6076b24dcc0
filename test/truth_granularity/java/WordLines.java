import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Counts words, a task for every line: each line is taken apart into strings and a map, all of which is garbage soon. The pool
 * has twice as many threads as there are cores. The setting is the tasks of a round.
 */
public final class WordLines {
  private static final int ROUNDS = 30;
  private static final int LINES = 1 << 14;
  private static final int WORDS = 12;

  private static String line(int number) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < WORDS; i++) {
      text.append("word").append(Work.spin(number * WORDS + i, 3) % 50).append(' ');
    }
    return text.toString();
  }

  /** How often the most frequent word occurs, summed over the lines. */
  private static long count(List<String> lines, int from, int to) {
    long sum = 0;
    for (int line = from; line < to; line++) {
      Map<String, Integer> words = new HashMap<>();
      for (String word : lines.get(line).split(" ")) {
        words.merge(word, 1, Integer::sum);
      }
      int most = 0;
      for (int times : words.values()) {
        most = Math.max(most, times);
      }
      sum += most;
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    int tasks = Work.setting(args, LINES);
    List<String> lines = new ArrayList<>();
    for (int line = 0; line < LINES; line++) {
      lines.add(line(line));
    }
    ExecutorService pool = Executors.newFixedThreadPool(4);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<Future<Long>> counts = new ArrayList<>();
      for (int task = 0; task < tasks; task++) {
        int from = Work.first(LINES, tasks, task);
        int to = Work.first(LINES, tasks, task + 1);
        counts.add(pool.submit(() -> count(lines, from, to)));
      }
      for (Future<Long> one : counts) {
        sum += one.get();
      }
    }
    pool.shutdown();
    Work.print(sum);
  }
}
