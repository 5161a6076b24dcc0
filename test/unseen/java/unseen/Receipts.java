package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Receipts are read with regular expressions, a pool of its own for each, as code does that wants no shared state: three threads for six
 * pages, shut down after. Twin "inline": the pages are read by whoever asks.
 */
public final class Receipts {
  private static final Pattern ITEM = Pattern.compile("(\\w+)\\s+x(\\d+)\\s+(\\d+)\\.(\\d\\d)");

  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int receipt = 0; receipt < 220; receipt++) {
      sum += inline ? alone(receipt) : together(receipt);
    }
    watch.print(sum);
  }

  private static long alone(int receipt) {
    long sum = 0;
    for (int page = 0; page < 6; page++) {
      sum += total(receipt * 6 + page);
    }
    return sum;
  }

  private static long together(int receipt) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    try {
      List<Future<Long>> pages = new ArrayList<>();
      for (int page = 0; page < 6; page++) {
        pages.add(handedOut(pool, receipt * 6 + page));
      }
      long sum = 0;
      for (Future<Long> page : pages) {
        sum += page.get();
      }
      return sum;
    } finally {
      pool.shutdown();
    }
  }

  private static Future<Long> handedOut(ExecutorService pool, int key) {
    return pool.submit(() -> total(key));
  }

  private static long total(int key) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 12; i++) {
      text.append("item").append((key + i) % 17).append(" x").append(1 + i % 3).append("  ").append(i * key % 90).append(".99\n");
    }
    Matcher items = ITEM.matcher(text);
    long cents = 0;
    while (items.find()) {
      cents += Long.parseLong(items.group(2)) * (Long.parseLong(items.group(3)) * 100 + Long.parseLong(items.group(4)));
    }
    return cents;
  }
}
