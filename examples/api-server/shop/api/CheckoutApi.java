package shop.api;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** {@code /checkout?user=N&product=P&quantity=Q}: reserves the goods and the money at the same time. */
final class CheckoutApi implements Endpoint {
  private final ExecutorService workers;
  private final Queries queries;

  CheckoutApi(ExecutorService workers, Queries queries) {
    this.workers = workers;
    this.queries = queries;
  }

  @Override
  public String handle(Request request) throws Exception {
    int user = request.number("user");
    int product = request.number("product");
    int quantity = request.number("quantity");
    Future<String> order = workers.submit(() -> placeOrder(user, product, quantity));
    return order.get();
  }

  private String placeOrder(int user, int product, int quantity) throws Exception {
    int cents = quantity * Dataset.priceCents(product);
    Future<Boolean> stock = workers.submit(() -> reserveStock(product, quantity));
    Future<String> payment = workers.submit(() -> Remote.authorisePayment(user, cents));
    return format(stock.get(), payment.get(), cents);
  }

  /** One at a time, so that no two customers get the last of a product. */
  private synchronized boolean reserveStock(int product, int quantity) throws Exception {
    return queries.reserve(product, quantity).get();
  }

  private static String format(boolean reserved, String authorisation, int cents) {
    return "{\"reserved\":" + reserved + ",\"authorisation\":\"" + authorisation + "\",\"cents\":" + cents + "}";
  }
}
