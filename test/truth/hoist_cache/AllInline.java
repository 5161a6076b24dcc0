package hoist_cache;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** All four products are looked up in turn, on the request's own thread. */
public final class AllInline {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(16);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.closed(3, 70, AllInline::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    List<Future<Integer>> products = new ArrayList<>();
    for (int k = 0; k < 4; k++) {
      products.add(startProduct(number * 4 + k));
    }
    long sum = 0;
    for (Future<Integer> product : products) {
      sum += product.get();
    }
    return sum;
  }

  private static Future<Integer> startProduct(int id) {
    return CompletableFuture.completedFuture(product(id));
  }

  private static int product(int id) {
    return isCached(id) ? fromCache(id) : load(id);
  }

  private static boolean isCached(int id) {
    return id % 2 == 1;
  }

  private static int fromCache(int id) {
    Work.waitUs(150);
    return id % 10;
  }

  private static int load(int id) {
    Work.waitMs(15);
    return id % 10;
  }
}
