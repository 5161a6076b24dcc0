package unseen21;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Homes are described on virtual threads, each of which asks {@code invokeAll} for three parts on virtual threads again. Their streets are
 * asked for once each, by whoever comes first ({@code computeIfAbsent} of a future), on a pool of two. Twins: more threads for the streets, or asked in place.
 */
public final class Homes {
  private static final ConcurrentHashMap<Integer, CompletableFuture<Integer>> streets = new ConcurrentHashMap<>();

  public static void main(String[] arguments) throws Exception {
    boolean inline = arguments.length > 0 && arguments[0].equals("inline");
    int size = arguments.length > 0 && !inline ? Integer.parseInt(arguments[0]) : 2;
    long begun = System.nanoTime();
    long sum = 0;
    try (ExecutorService homes = Executors.newVirtualThreadPerTaskExecutor(); ExecutorService asking = Executors.newFixedThreadPool(size)) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        int home = i;
        all.add(homes.submit(() -> described(homes, asking, home, inline)));
      }
      for (Future<Integer> one : all) {
        sum += one.get();
      }
      System.out.printf("result %s us %d%n", sum, (System.nanoTime() - begun) / 1000);
    }
  }

  private static int described(ExecutorService homes, ExecutorService asking, int home, boolean inline) throws Exception {
    int sum = 0;
    List<Callable<Integer>> parts = List.of(() -> rooms(home), () -> garden(home), () -> street(asking, home / 2, inline).join());
    for (Future<Integer> part : homes.invokeAll(parts)) {
      sum += part.get();
    }
    return sum;
  }

  private static CompletableFuture<Integer> street(ExecutorService asking, int street, boolean inline) {
    return streets.computeIfAbsent(street, key -> inline ? CompletableFuture.completedFuture(asked(key)) : handedOut(asking, key));
  }

  private static CompletableFuture<Integer> handedOut(ExecutorService asking, int street) {
    return CompletableFuture.supplyAsync(() -> asked(street), asking);
  }

  private static int rooms(int home) throws InterruptedException {
    Thread.sleep(9);
    return home % 7;
  }

  private static int garden(int home) throws InterruptedException {
    Thread.sleep(4 + home % 9);
    return home % 5;
  }

  private static int asked(int street) {
    try {
      Thread.sleep(8 + street % 5);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return street * 31 % 97;
  }
}
