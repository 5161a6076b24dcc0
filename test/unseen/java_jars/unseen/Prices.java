package unseen;

import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Scheduler;
import io.reactivex.rxjava3.schedulers.Schedulers;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** RxJava: prices of a list of articles are asked for in parallel, by a scheduler over a pool of two. Twins: more threads. */
public final class Prices {
  public static void main(String[] arguments) {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2));
    Scheduler scheduler = Schedulers.from(pool);
    Stopwatch watch = new Stopwatch();
    long sum = Flowable.range(0, 90)
                   .flatMap(article -> Flowable.fromCallable(() -> price(article)).subscribeOn(scheduler))
                   .reduce(0L, (all, one) -> all + one)
                   .blockingGet();
    watch.print(sum);
    pool.shutdown();
  }

  private static int price(int article) throws InterruptedException {
    Thread.sleep(6 + article % 5);
    int value = article;
    for (int i = 0; i < 200_000; i++) {
      value = value * 31 + i;
    }
    return value & 0xFFF;
  }
}
