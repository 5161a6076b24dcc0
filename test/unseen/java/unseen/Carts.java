package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * {@code CompletableFuture} without an executor: a thread for each task where the machine has two cores. Every cart is priced, and discounted by
 * a stage of its own, while the customer is greeted; a collector adds them up. Twins: the greeting called, the discount in the pricing's thread.
 */
public final class Carts {
  public static void main(String[] arguments) {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    boolean stage = Stopwatch.isTwin(arguments, "stage");
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int customer = 0; customer < 90; customer++) {
      List<CompletableFuture<Integer>> carts = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        int cart = customer * 3 + i;
        CompletableFuture<Integer> price = CompletableFuture.supplyAsync(() -> priced(cart));
        carts.add(stage ? price.thenApply(Carts::discounted) : price.thenApplyAsync(Carts::discounted));
      }
      int greeting = inline ? greeted(customer) : greeting(customer).join();
      sum += greeting + carts.stream().map(CompletableFuture::join).collect(Collectors.summingInt(price -> price));
    }
    watch.print(sum);
  }

  private static CompletableFuture<Integer> greeting(int customer) {
    return CompletableFuture.supplyAsync(() -> greeted(customer));
  }

  private static int greeted(int customer) {
    int text = customer;
    for (int i = 0; i < 900_000; i++) {
      text = text * 31 + (i ^ customer);
    }
    return text & 0xFF;
  }

  private static int priced(int cart) {
    try {
      Thread.sleep(2 + cart % 4);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return cart * 17 % 1000;
  }

  private static int discounted(int price) {
    int value = price;
    for (int i = 0; i < 20_000; i++) {
      value = value * 13 + i;
    }
    return value & 0xFFF;
  }
}
