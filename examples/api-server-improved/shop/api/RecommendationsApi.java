package shop.api;

import java.util.concurrent.CompletableFuture;

/** {@code /recommendations?user=N}: something like what the user bought before. */
final class RecommendationsApi implements Endpoint {
  private final Store store;

  RecommendationsApi(Store store) {
    this.store = store;
  }

  @Override
  public CompletableFuture<String> handle(Request request) {
    int user = request.number("user");
    return CompletableFuture.completedFuture(recommend(user));
  }

  private String recommend(int user) {
    int[] bought = store.purchases(user);
    return "{\"recommended\":\"" + Dataset.productName(Remote.mostLike(bought)) + "\"}";
  }
}
