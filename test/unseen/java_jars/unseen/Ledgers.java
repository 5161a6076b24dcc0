package unseen;

import io.vavr.collection.List;
import io.vavr.collection.Seq;
import io.vavr.concurrent.Future;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Vavr: futures that are mapped, folded and gathered, on a pool of three. Twins: more threads, rates asked in place. */
public final class Ledgers {
  public static void main(String[] arguments) {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 3));
    boolean inPlace = Stopwatch.isTwin(arguments, "inline");
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int day = 0; day < 12; day++) {
      int today = day;
      Seq<Future<Long>> booked = List.range(0, 14).map(account -> booked(pool, today * 14 + account));
      long rate = inPlace ? rate(day) : asked(pool, day).get();
      sum += Future.sequence(pool, booked).map(all -> all.sum().longValue() * rate).get();
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static Future<Long> booked(ExecutorService pool, int account) {
    return Future.of(pool, () -> balance(account)).map(balance -> balance % 1000).filter(balance -> balance >= 0);
  }

  private static Future<Long> asked(ExecutorService pool, int day) {
    return Future.of(pool, () -> rate(day));
  }

  private static long rate(int day) {
    slept(11);
    return day % 5 + 1;
  }

  private static long balance(int account) {
    slept(7 + account % 6);
    long balance = account;
    for (int i = 0; i < 60_000; i++) {
      balance = balance * 31 + i & 0xFFFFFF;
    }
    return balance;
  }

  private static void slept(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
