package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;

/**
 * A reader hands pages over by a SynchronousQueue to three counters, which are tasks of a pool as long as the run and sort the words of each
 * page on a second pool of one thread. Twins: "inline": the counters sort themselves; "2": two threads sort.
 */
public final class Relay {
  private static final String END = "";

  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService counters = Executors.newFixedThreadPool(3);
    ExecutorService sorters = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    SynchronousQueue<String> pages = new SynchronousQueue<>();
    Stopwatch watch = new Stopwatch();
    List<Future<Integer>> counts = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      counts.add(counters.submit(() -> {
        int sum = 0;
        for (String page = pages.take(); !page.equals(END); page = pages.take()) {
          sum += inline ? sorted(page) : handedOut(sorters, page).get();
        }
        return sum;
      }));
    }
    for (int page = 0; page < 400; page++) {
      pages.put(read(page));
    }
    for (int i = 0; i < 3; i++) {
      pages.put(END);
    }
    int sum = 0;
    for (Future<Integer> count : counts) {
      sum += count.get();
    }
    watch.print(sum);
    counters.shutdown();
    sorters.shutdown();
  }

  private static Future<Integer> handedOut(ExecutorService sorters, String page) {
    return sorters.submit(() -> sorted(page));
  }

  private static String read(int page) throws InterruptedException {
    Thread.sleep(1);
    StringBuilder text = new StringBuilder("page");
    for (int i = 0; i < 400; i++) {
      text.append(' ').append((page * 31 + i * 7) % 1_013);
    }
    return text.toString();
  }

  private static int sorted(String page) throws InterruptedException {
    Thread.sleep(4);
    Map<String, Integer> words = new TreeMap<>();
    for (String word : page.split(" ")) {
      words.merge(word, 1, Integer::sum);
    }
    return words.toString().hashCode() & 0xFFF;
  }
}
