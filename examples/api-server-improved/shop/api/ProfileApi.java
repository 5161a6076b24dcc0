package shop.api;

/** {@code /profile?user=N}: name, age and picture of a user. */
final class ProfileApi implements Endpoint {
  private final Store store;

  ProfileApi(Store store) {
    this.store = store;
  }

  @Override
  public String handle(Request request) {
    int user = request.number("user");
    return loadProfile(user);
  }

  private String loadProfile(int user) {
    Store.User row = store.user(user);
    return "{\"name\":\"" + row.name() + "\",\"age\":" + row.age() + ",\"avatar\":\"" + Remote.avatar(user) + "\"}";
  }
}
