package unseen21;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A virtual thread for each order; each asks the store, a pool of four platform threads, twice. Twins: more of these; "inline": no pool. */
public final class Orders {
  public static void main(String[] arguments) throws Exception {
    boolean inline = arguments.length > 0 && arguments[0].equals("inline");
    int size = arguments.length > 0 && !inline ? Integer.parseInt(arguments[0]) : 4;
    long sum = 0;
    long begun = System.nanoTime();
    try (ExecutorService orders = Executors.newVirtualThreadPerTaskExecutor(); ExecutorService store = Executors.newFixedThreadPool(size)) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        final int order = i;
        all.add(orders.submit(() -> inline ? direct(order) : take(store, order)));
      }
      for (Future<Integer> order : all) {
        sum += order.get();
      }
      System.out.printf("result %s us %d%n", sum, (System.nanoTime() - begun) / 1000);
    }
  }

  private static int take(ExecutorService store, int order) throws Exception {
    Thread.sleep(order % 4);
    int stock = ask(store, order).get();
    return stock + ask(store, order + 1000).get();
  }

  private static int direct(int order) throws InterruptedException {
    Thread.sleep(order % 4);
    int stock = answer(order);
    return stock + answer(order + 1000);
  }

  private static Future<Integer> ask(ExecutorService store, int key) {
    return store.submit(() -> answer(key));
  }

  private static int answer(int key) throws InterruptedException {
    Thread.sleep(5 + key % 7);
    return key % 13;
  }
}
