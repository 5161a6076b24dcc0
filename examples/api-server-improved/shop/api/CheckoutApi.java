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
    return placeOrder(request.number("user"), request.number("product"), request.number("quantity"));
  }

  /** Reserves the goods itself, while the payment is authorised. */
  private String placeOrder(int user, int product, int quantity) throws Exception {
    int cents = quantity * Dataset.priceCents(product);
    Future<String> payment = workers.submit(() -> Remote.authorisePayment(user, cents));
    return format(reserveStock(product, quantity), payment.get(), cents);
  }

  /** One at a time, so that no two customers get the last of a product. */
  private synchronized boolean reserveStock(int product, int quantity) {
    return store.reserve(product, quantity);
  }

  private static String format(boolean reserved, String authorisation, int cents) {
    return "{\"reserved\":" + reserved + ",\"authorisation\":\"" + authorisation + "\",\"cents\":" + cents + "}";
  }
}
