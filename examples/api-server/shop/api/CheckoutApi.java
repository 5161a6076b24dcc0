package shop.api;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** {@code /checkout?user=N&product=P&quantity=Q}: reserves the goods and the money at the same time. */
final class CheckoutApi implements Endpoint {
  private final ExecutorService workers;
  private final Store store;

  CheckoutApi(ExecutorService workers, Store store) {
    this.workers = workers;
    this.store = store;
  }

  @Override
  public String handle(Request request) throws Exception {
    int user = request.number("user");
    int product = request.number("product");
    int quantity = request.number("quantity");
    int cents = quantity * Dataset.priceCents(product);
    Future<String> payment = workers.submit(() -> Remote.authorisePayment(user, cents));
    return format(store.reserve(product, quantity), payment.get(), cents);
  }

  private static String format(boolean reserved, String authorisation, int cents) {
    return "{\"reserved\":" + reserved + ",\"authorisation\":\"" + authorisation + "\",\"cents\":" + cents + "}";
  }
}
