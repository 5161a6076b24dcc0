package shop.api;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;

/** {@code /recommendations?user=N}: something like what the user bought before. */
final class RecommendationsApi implements Endpoint {
  private final ExecutorService workers;
  private final Store store;

  RecommendationsApi(ExecutorService workers, Store store) {
    this.workers = workers;
    this.store = store;
  }

  @Override
  public String handle(Request request) {
    int user = request.number("user");
    return CompletableFuture.supplyAsync(() -> recommend(user), workers).join();
  }

  private String recommend(int user) {
    int[] bought = store.purchases(user);
    return "{\"recommended\":\"" + Dataset.productName(Remote.mostLike(bought)) + "\"}";
  }
}
