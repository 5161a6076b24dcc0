package shop.api;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;

/** {@code /checkout?user=N&product=P&quantity=Q}: reserves the goods and the money at the same time. */
final class CheckoutApi implements Endpoint {
  private final ExecutorService workers;
  private final Store store;

  CheckoutApi(ExecutorService workers, Store store) {
    this.workers = workers;
    this.store = store;
  }

  @Override
  public CompletableFuture<String> handle(Request request) {
    int user = request.number("user");
    int product = request.number("product");
    int quantity = request.number("quantity");
    return placeOrder(user, product, quantity);
  }

  private CompletableFuture<String> placeOrder(int user, int product, int quantity) {
    int cents = quantity * Dataset.priceCents(product);
    CompletableFuture<Boolean> stock = CompletableFuture.supplyAsync(() -> store.reserve(product, quantity), workers);
    CompletableFuture<String> payment =
        CompletableFuture.supplyAsync(() -> Remote.authorisePayment(user, cents), workers);
    return stock.thenCombine(payment, (reserved, authorisation) -> format(reserved, authorisation, cents));
  }

  private static String format(boolean reserved, String authorisation, int cents) {
    return "{\"reserved\":" + reserved + ",\"authorisation\":\"" + authorisation + "\",\"cents\":" + cents + "}";
  }
}
