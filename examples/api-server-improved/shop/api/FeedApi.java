package shop.api;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;

/** {@code /feed?user=N}: what the user's friends wrote, with an advertisement below. */
final class FeedApi implements Endpoint {
  private final ExecutorService workers;
  private final Store store;

  FeedApi(ExecutorService workers, Store store) {
    this.workers = workers;
    this.store = store;
  }

  @Override
  public CompletableFuture<String> handle(Request request) {
    int user = request.number("user");
    return composeFeed(user);
  }

  private CompletableFuture<String> composeFeed(int user) {
    CompletableFuture<List<String>> posts = CompletableFuture.supplyAsync(() -> store.friendsPosts(user), workers);
    CompletableFuture<Integer> advertisement =
        CompletableFuture.supplyAsync(() -> Remote.advertisedProduct(user), workers);
    return posts.thenCombine(advertisement, FeedApi::format);
  }

  private static String format(List<String> posts, int advertisement) {
    return "{\"posts\":[\"" + String.join("\",\"", posts) + "\"],\"advertisement\":\""
        + Dataset.productName(advertisement) + "\"}";
  }
}
