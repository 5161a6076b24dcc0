package shop.api;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** {@code /feed?user=N}: what the user's friends wrote, with an advertisement below. */
final class FeedApi implements Endpoint {
  private final ExecutorService workers;
  private final Store store;

  FeedApi(ExecutorService workers, Store store) {
    this.workers = workers;
    this.store = store;
  }

  @Override
  public String handle(Request request) throws Exception {
    int user = request.number("user");
    Future<String> feed = workers.submit(() -> composeFeed(user));
    return feed.get();
  }

  private String composeFeed(int user) throws Exception {
    Future<Integer> advertisement = workers.submit(() -> Remote.advertisedProduct(user));
    return format(store.friendsPosts(user), advertisement.get());
  }

  private static String format(List<String> posts, int advertisement) {
    return "{\"posts\":[\"" + String.join("\",\"", posts) + "\"],\"advertisement\":\""
        + Dataset.productName(advertisement) + "\"}";
  }
}
