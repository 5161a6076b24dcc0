package unseen;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A small library's own futures over an executor, as other languages have them: Eventual.of, map, value. A loan's rate is asked for with its
 * risk, and awaited at once. Twin "inline": the risk is worked out in place; "6": six workers instead of three.
 */
public final class Wrapped {
  private static final class Eventual<T> {
    private T value;
    private boolean known;

    static <T> Eventual<T> of(Executor executor, Supplier<T> body) {
      Eventual<T> result = new Eventual<>();
      executor.execute(() -> result.complete(body.get()));
      return result;
    }

    <U> Eventual<U> map(Executor executor, Function<T, U> body) {
      return of(executor, () -> body.apply(value()));
    }

    private synchronized void complete(T result) {
      value = result;
      known = true;
      notifyAll();
    }

    synchronized T value() {
      try {
        while (!known) {
          wait();
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return value;
    }
  }

  public static void main(String[] arguments) {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService desk = Executors.newFixedThreadPool(Stopwatch.size(arguments, 3)), experts = Executors.newCachedThreadPool();
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int day = 0; day < 12; day++) {
      Eventual<?>[] loans = new Eventual<?>[8];
      for (int i = 0; i < loans.length; i++) {
        final int loan = day * 8 + i;
        loans[i] = Eventual.of(desk, () -> rate(loan) + (inline ? risk(loan) : riskOf(experts, loan).value()));
      }
      for (Eventual<?> loan : loans) {
        sum += (Integer) loan.value();
      }
    }
    watch.print(sum);
    desk.shutdown();
    experts.shutdown();
  }

  private static Eventual<Integer> riskOf(Executor experts, int loan) {
    return Eventual.of(experts, () -> risk(loan));
  }

  private static int rate(int loan) {
    return slow(loan, 6);
  }

  private static int risk(int loan) {
    return slow(loan + 5, 9);
  }

  private static int slow(int key, int ms) {
    try {
      Thread.sleep(ms + key % 4);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return key % 31;
  }
}
