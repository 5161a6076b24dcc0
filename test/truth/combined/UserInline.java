package combined;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import truth.Load;
import truth.Work;

/** The user is asked for on the request's own thread; the rest is as before. */
public final class UserInline {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(40);

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.open(POOL, 150, UserInline::serve));
    POOL.shutdown();
  }

  private static long serve(int number) throws Exception {
    int user = user(number);
    Future<Integer> basket = startBasket(user);
    List<Future<Integer>> products = new ArrayList<>();
    for (int k = 0; k < 3; k++) {
      products.add(startProduct(user + k));
    }
    long sum = basket.get();
    for (Future<Integer> product : products) {
      sum += product.get();
    }
    return sum;
  }

  private static int user(int number) {
    Work.waitMs(7);
    return number % 60;
  }

  private static Future<Integer> startBasket(int user) {
    return POOL.submit(() -> basket(user));
  }

  private static int basket(int user) throws Exception {
    Future<Integer> stock = POOL.submit(() -> stock(user));
    Future<Integer> payment = POOL.submit(() -> payment(user));
    return stock.get() + payment.get();
  }

  private static int stock(int user) {
    Work.waitMs(8);
    return user % 7;
  }

  private static int payment(int user) {
    Work.waitMs(16);
    return user % 5;
  }

  private static Future<Integer> startProduct(int id) {
    return POOL.submit(() -> product(id));
  }

  private static int product(int id) {
    return id % 3 != 0 ? fromCache(id) : load(id);
  }

  private static int fromCache(int id) {
    return id * 2;
  }

  private static int load(int id) {
    Work.waitMs(14);
    return id * 2;
  }
}
