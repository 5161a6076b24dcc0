package shop.api;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** {@code /profile?user=N}: name, age and picture of a user. */
final class ProfileApi implements Endpoint {
  private final ExecutorService workers;
  private final Store store;

  ProfileApi(ExecutorService workers, Store store) {
    this.workers = workers;
    this.store = store;
  }

  @Override
  public String handle(Request request) throws Exception {
    int user = request.number("user");
    Future<String> profile = workers.submit(() -> loadProfile(user));
    return profile.get();
  }

  private String loadProfile(int user) {
    Store.User row = store.user(user);
    return "{\"name\":\"" + row.name() + "\",\"age\":" + row.age() + ",\"avatar\":\"" + Remote.avatar(user) + "\"}";
  }
}
