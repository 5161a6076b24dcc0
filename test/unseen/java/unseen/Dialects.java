package unseen;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Texts are translated on a pool of two, whose threads load a dictionary of their own first ({@code ThreadLocal}); each stage ends at a latch,
 * and the main thread sets the page before the next one. Twins: more threads, each of which loads a dictionary; the foreword in place.
 */
public final class Dialects {
  private static final ThreadLocal<Map<Integer, Integer>> DICTIONARY = ThreadLocal.withInitial(Dialects::loaded);

  public static void main(String[] arguments) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2));
    Stopwatch watch = new Stopwatch();
    long[] words = new long[24];
    long sum = 0;
    for (int page = 0; page < 10; page++) {
      CountDownLatch translated = new CountDownLatch(words.length);
      for (int text = 0; text < words.length; text++) {
        handOut(pool, words, page, text, translated);
      }
      translated.await();
      sum += set(words);
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static void handOut(ExecutorService pool, long[] words, int page, int text, CountDownLatch translated) {
    pool.execute(() -> {
      words[text] = translated(page * 100 + text);
      translated.countDown();
    });
  }

  private static Map<Integer, Integer> loaded() {
    slept(30);
    Map<Integer, Integer> dictionary = new HashMap<>();
    for (int word = 0; word < 5000; word++) {
      dictionary.put(word, word * 31 % 5000);
    }
    return dictionary;
  }

  private static long translated(int text) {
    Map<Integer, Integer> dictionary = DICTIONARY.get();
    slept(text % 24 == 0 ? 14 : 3);
    int word = text;
    long sum = 0;
    for (int i = 0; i < 8_000; i++) {
      word = dictionary.get((word + i) % 5000);
      sum += word;
    }
    return sum;
  }

  private static long set(long[] words) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 4000; i++) {
      lines.add(Long.toString(words[i % words.length] * i, 36));
    }
    lines.sort(String::compareTo);
    return lines.get(17).hashCode() & 0xFFF;
  }

  private static void slept(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
