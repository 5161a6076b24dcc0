package shop.api;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** {@code /search?word=W}: the first products that carry the word, with today's prices. */
final class SearchApi implements Endpoint {
  static final int RESULTS = 3;
  private final ExecutorService workers;
  private final Store store;
  private final ProductCache cache = new ProductCache();

  SearchApi(ExecutorService workers, Store store) {
    this.workers = workers;
    this.store = store;
  }

  @Override
  public String handle(Request request) throws Exception {
    int[] products = store.productsWithWord(request.text("word"), RESULTS);
    List<Future<String>> texts = new ArrayList<>();
    for (int product : products) {
      texts.add(workers.submit(() -> describe(product)));
    }
    List<String> lines = new ArrayList<>();
    for (Future<String> text : texts) {
      lines.add(text.get());
    }
    return "[" + String.join(",", lines) + "]";
  }

  /** Microseconds where the cache knows the product, two remote calls where it does not. */
  private String describe(int product) {
    String text = cache.get(product);
    if (text == null) {
      text = loadDescription(product);
    }
    return text;
  }

  private String loadDescription(int product) {
    Store.Product row = store.product(product);
    int cents = row.priceCents() + row.priceCents() * Remote.surchargePercent(product) / 100;
    String text = "{\"product\":\"" + row.name() + "\",\"cents\":" + cents + "}";
    cache.put(product, text);
    return text;
  }
}
