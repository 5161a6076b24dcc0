package shop.api;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** The store's queries as tasks of the worker pool. */
final class Queries {
  private final Store store;
  private final ExecutorService workers;

  Queries(Store store, ExecutorService workers) {
    this.store = store;
    this.workers = workers;
  }

  Future<Store.User> user(int id) {
    return workers.submit(() -> store.user(id));
  }

  Future<List<String>> friendsPosts(int user) {
    return workers.submit(() -> store.friendsPosts(user));
  }

  Future<int[]> productsWithWord(String word, int limit) {
    return workers.submit(() -> store.productsWithWord(word, limit));
  }

  Future<Store.Product> product(int id) {
    return workers.submit(() -> store.product(id));
  }

  Future<Boolean> reserve(int product, int quantity) {
    return workers.submit(() -> store.reserve(product, quantity));
  }
}
