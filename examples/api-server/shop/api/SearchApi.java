package shop.api;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** {@code /search?word=W}: the first products that carry the word, with today's prices. */
final class SearchApi implements Endpoint {
  static final int RESULTS = 3;
  private final ExecutorService workers;
  private final Queries queries;
  private final ProductCache cache = new ProductCache();

  SearchApi(ExecutorService workers, Queries queries) {
    this.workers = workers;
    this.queries = queries;
  }

  @Override
  public String handle(Request request) throws Exception {
    int[] products = queries.productsWithWord(request.text("word"), RESULTS).get();
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
  private String describe(int product) throws Exception {
    String text = cache.get(product);
    if (text == null) {
      text = loadDescription(product);
    }
    return text;
  }

  private String loadDescription(int product) throws Exception {
    Store.Product row = queries.product(product).get();
    int cents = row.priceCents() + row.priceCents() * Remote.surchargePercent(product) / 100;
    String text = "{\"product\":\"" + row.name() + "\",\"cents\":" + cents + "}";
    cache.put(product, text);
    return text;
  }
}
