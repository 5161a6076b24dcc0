package shop.api;

/** {@code /recommendations?user=N}: something like what the user bought before. */
final class RecommendationsApi implements Endpoint {
  private final Store store;

  RecommendationsApi(Store store) {
    this.store = store;
  }

  @Override
  public String handle(Request request) {
    return recommend(request.number("user"));
  }

  private String recommend(int user) {
    int[] bought = store.purchases(user);
    return "{\"recommended\":\"" + Dataset.productName(Remote.mostLike(bought)) + "\"}";
  }
}
