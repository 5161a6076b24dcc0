package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * Chains of futures: an offer needs a customer and a stock level, then a price, and is combined at the end. All of it is waiting for other
 * services, on an executor of two, as many as the machine has cores. Twins: more.
 */
public final class Offers {
  private static Executor executor;

  public static void main(String[] arguments) {
    ExecutorService own = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2), work -> {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      return thread;
    });
    executor = own;
    Stopwatch watch = new Stopwatch();
    List<CompletableFuture<Integer>> offers = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      offers.add(offer(i));
    }
    CompletableFuture.allOf(offers.toArray(new CompletableFuture<?>[0])).join();
    watch.print(offers.stream().mapToLong(CompletableFuture::join).sum());
  }

  private static CompletableFuture<Integer> offer(int id) {
    CompletableFuture<Integer> customer = async(() -> ask(id, 6));
    CompletableFuture<Integer> stock = async(() -> ask(id * 3, 9));
    return customer.thenCombine(stock, (who, left) -> who * 31 + left).thenCompose(Offers::price);
  }

  private static CompletableFuture<Integer> price(int key) {
    return async(() -> ask(key, 4)).thenApply(price -> price + 1);
  }

  private static CompletableFuture<Integer> async(Supplier<Integer> work) {
    return CompletableFuture.supplyAsync(work, executor);
  }

  private static int ask(int key, int milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return key % 1000 + 7;
  }
}
