package combined;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** The same service, each thread busy with work of its own. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(40);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.open(POOL, 150, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    int user = user(number);
    CompletableFuture<Integer> basket = startBasket(user);
    List<Future<Integer>> products = new ArrayList<>();
    for (int k = 0; k < 3; k++) {
      products.add(startProduct(user + k));
    }
    long sum = basket.get();
    for (Future<Integer> product : products) {
      sum += product.get();
    }
    return sum;
  }

  private static int user(int number) {
    Work.waitMs(7);
    return number % 60;
  }

  private static CompletableFuture<Integer> startBasket(int user) {
    return basket(user);
  }

  private static CompletableFuture<Integer> basket(int user) {
    CompletableFuture<Integer> stock = CompletableFuture.supplyAsync(() -> stock(user), POOL);
    CompletableFuture<Integer> payment = CompletableFuture.supplyAsync(() -> payment(user), POOL);
    return stock.thenCombine(payment, (s, p) -> s + p);
  }

  private static int stock(int user) {
    Work.waitMs(8);
    return user % 7;
  }

  private static int payment(int user) {
    Work.waitMs(16);
    return user % 5;
  }

  private static Future<Integer> startProduct(int id) {
    return id % 3 != 0 ? CompletableFuture.completedFuture(fromCache(id)) : POOL.submit(() -> load(id));
  }

  private static int fromCache(int id) {
    return id * 2;
  }

  private static int load(int id) {
    Work.waitMs(14);
    return id * 2;
  }
}
