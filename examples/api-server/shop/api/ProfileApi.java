package shop.api;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** {@code /profile?user=N}: name, age and picture of a user. */
final class ProfileApi implements Endpoint {
  private final ExecutorService workers;
  private final Queries queries;

  ProfileApi(ExecutorService workers, Queries queries) {
    this.workers = workers;
    this.queries = queries;
  }

  @Override
  public String handle(Request request) throws Exception {
    int user = request.number("user");
    Future<String> profile = workers.submit(() -> loadProfile(user));
    return profile.get();
  }

  private String loadProfile(int user) throws Exception {
    Store.User row = queries.user(user).get();
    return "{\"name\":\"" + row.name() + "\",\"age\":" + row.age() + ",\"avatar\":\"" + Remote.avatar(user) + "\"}";
  }
}
