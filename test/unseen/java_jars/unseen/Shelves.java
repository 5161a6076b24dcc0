package unseen;

import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/**
 * Caffeine's {@code AsyncLoadingCache}, smaller than what is asked for, loaded on a pool of two. Twins: more threads that load; every
 * book loaded by who asks for it.
 */
public final class Shelves {
  public static void main(String[] arguments) {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2));
    AsyncLoadingCache<Integer, String> books = cache(pool, Stopwatch.isTwin(arguments, "inline"));
    Stopwatch watch = new Stopwatch();
    Random random = new Random(7);
    long sum = 0;
    for (int reader = 0; reader < 60; reader++) {
      List<Integer> wanted = IntStream.generate(() -> random.nextInt(80)).limit(8).boxed().toList();
      sum += books.getAll(wanted).join().values().stream().mapToInt(String::length).sum();
    }
    watch.print(sum > 0);
    pool.shutdown();
  }

  private static AsyncLoadingCache<Integer, String> cache(ExecutorService pool, boolean called) {
    Caffeine<Object, Object> shelf = Caffeine.newBuilder().maximumSize(30);
    return (called ? shelf.executor(Runnable::run) : shelf.executor(pool)).buildAsync(Shelves::fetched);
  }

  private static String fetched(int book) {
    try {
      Thread.sleep(3 + book % 4);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    StringBuilder text = new StringBuilder();
    for (int page = 0; page < 400; page++) {
      text.append(Integer.toString(book * page, 36));
    }
    return text.toString();
  }
}
