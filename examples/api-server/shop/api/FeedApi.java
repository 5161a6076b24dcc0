package shop.api;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** {@code /feed?user=N}: what the user's friends wrote, with an advertisement below. */
final class FeedApi implements Endpoint {
  private final ExecutorService workers;
  private final Queries queries;

  FeedApi(ExecutorService workers, Queries queries) {
    this.workers = workers;
    this.queries = queries;
  }

  @Override
  public String handle(Request request) throws Exception {
    int user = request.number("user");
    Future<String> feed = workers.submit(() -> composeFeed(user));
    return feed.get();
  }

  private String composeFeed(int user) throws Exception {
    Future<List<String>> posts = workers.submit(() -> loadPosts(user));
    Future<Integer> advertisement = workers.submit(() -> Remote.advertisedProduct(user));
    return format(posts.get(), advertisement.get());
  }

  private List<String> loadPosts(int user) throws Exception {
    return queries.friendsPosts(user).get();
  }

  private static String format(List<String> posts, int advertisement) {
    return "{\"posts\":[\"" + String.join("\",\"", posts) + "\"],\"advertisement\":\""
        + Dataset.productName(advertisement) + "\"}";
  }
}
