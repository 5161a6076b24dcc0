import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A product's page of what three other services know. Each call is a task of a pool for such calls, and the handler waits for one
 * before it makes the next: eight handlers are all there are. Changed: all calls first, then the waits; calls in place; or
 * more handlers.
 */
final class NestedSubmits {
  private static final int HANDLERS = 8;
  private static final int MORE_HANDLERS = 40;
  private static final int WORKERS = 16;
  private final ExecutorService work = Executors.newFixedThreadPool(WORKERS);

  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "together", "in-place", "more-handlers");
    NestedSubmits pages = new NestedSubmits();
    int handlers = service.variant.equals("more-handlers") ? MORE_HANDLERS : HANDLERS;
    service.serve(Executors.newFixedThreadPool(handlers), switch (service.variant) {
      case "together" -> pages::together;
      case "in-place" -> pages::inPlace;
      default -> pages::oneAfterTheOther;
    });
  }

  private String oneAfterTheOther(int id) throws Exception {
    Future<String> price = work.submit(() -> Remote.ask("price", id, 4));
    String priceText = price.get();
    Future<String> stock = work.submit(() -> Remote.ask("stock", id, 6));
    String stockText = stock.get();
    Future<String> reviews = work.submit(() -> Remote.ask("reviews", id, 8));
    return page(id, priceText, stockText, reviews.get());
  }

  private String together(int id) throws Exception {
    Future<String> price = work.submit(() -> Remote.ask("price", id, 4));
    Future<String> stock = work.submit(() -> Remote.ask("stock", id, 6));
    Future<String> reviews = work.submit(() -> Remote.ask("reviews", id, 8));
    return page(id, price.get(), stock.get(), reviews.get());
  }

  private String inPlace(int id) throws Exception {
    return page(id, Remote.ask("price", id, 4), Remote.ask("stock", id, 6), Remote.ask("reviews", id, 8));
  }

  private static String page(int id, String price, String stock, String reviews) {
    return Page.of("product", id, 1000 + id % 7 * 150).summary() + " " + price + " " + stock + " " + reviews;
  }
}
