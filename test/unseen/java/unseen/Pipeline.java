package unseen;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A pipeline of stages over bounded queues: a reader, a translator, a writer, each a thread of its own. Translating asks a pool of one for
 * each word's entry. Twin "inline": the translator looks the entry up itself.
 */
public final class Pipeline {
  private static final int END = -1;

  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    BlockingQueue<Integer> read = new ArrayBlockingQueue<>(8), translated = new ArrayBlockingQueue<>(8);
    ExecutorService dictionary = Executors.newSingleThreadExecutor();
    long[] sum = new long[1];
    Stopwatch watch = new Stopwatch();
    Thread reader = new Thread(() -> read(read), "reader");
    Thread translator = new Thread(() -> translate(read, translated, dictionary, inline), "translator");
    Thread writer = new Thread(() -> sum[0] = write(translated), "writer");
    reader.start();
    translator.start();
    writer.start();
    reader.join();
    translator.join();
    writer.join();
    watch.print(sum[0]);
    dictionary.shutdown();
  }

  private static void read(BlockingQueue<Integer> out) {
    try {
      for (int page = 0; page < 120; page++) {
        Thread.sleep(3);
        out.put(page);
      }
      out.put(END);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void translate(BlockingQueue<Integer> in, BlockingQueue<Integer> out, ExecutorService dictionary, boolean inline) {
    try {
      for (int page = in.take(); page != END; page = in.take()) {
        final int word = page;
        Thread.sleep(2);
        out.put(inline ? entry(word) : entryOf(dictionary, word).get());
      }
      out.put(END);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Future<Integer> entryOf(ExecutorService dictionary, int word) {
    return dictionary.submit(() -> entry(word));
  }

  private static int entry(int word) throws InterruptedException {
    Thread.sleep(4);
    return word * 7 % 1000;
  }

  private static long write(BlockingQueue<Integer> in) {
    long sum = 0;
    try {
      for (int page = in.take(); page != END; page = in.take()) {
        Thread.sleep(1);
        sum += page;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return sum;
  }
}
