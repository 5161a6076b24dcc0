package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/**
 * A home-made structured scope: what a scope forks is joined where it closes, and the first failure cancels the others. Scopes nest, on a
 * cached pool; a pool of three limits the back end. Twins: the last child of a scope called, a larger back end.
 */
public final class Scopes {
  private static final class Scope implements AutoCloseable {
    private final ExecutorService threads;
    private final List<Future<?>> children = new ArrayList<>();

    Scope(ExecutorService threads) {
      this.threads = threads;
    }

    <T> Future<T> fork(Callable<T> child) {
      Future<T> forked = threads.submit(() -> {
        try {
          return child.call();
        } catch (Exception e) {
          children.forEach(other -> other.cancel(true));
          throw e;
        }
      });
      children.add(forked);
      return forked;
    }

    void join() throws InterruptedException {
      for (Future<?> child : children) {
        try {
          child.get();
        } catch (ExecutionException | CancellationException e) {
          return;
        }
      }
    }

    @Override
    public void close() {
      children.forEach(child -> child.cancel(true));
    }
  }

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final ExecutorService backEnd;
  private final boolean lastCalled;

  private Scopes(String[] arguments) {
    backEnd = Executors.newFixedThreadPool(Stopwatch.size(arguments, 3));
    lastCalled = Stopwatch.isTwin(arguments, "inline");
  }

  public static void main(String[] arguments) throws Exception {
    Scopes scopes = new Scopes(arguments);
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int page = 0; page < 16; page++) {
      sum += scopes.page(page);
    }
    watch.print(sum);
    scopes.threads.shutdown();
    scopes.backEnd.shutdown();
  }

  private long page(int page) throws Exception {
    try (Scope scope = new Scope(threads)) {
      Future<Long> header = scope.fork(() -> block(page * 3));
      Future<Long> body = scope.fork(() -> block(page * 3 + 1));
      Future<Long> footer = lastCalled ? called(page) : forkedLast(scope, page);
      scope.join();
      return header.get() + body.get() + footer.get();
    }
  }

  private Future<Long> forkedLast(Scope scope, int page) {
    return scope.fork(() -> asked(page * 100));
  }

  private Future<Long> called(int page) {
    FutureTask<Long> footer = new FutureTask<>(() -> asked(page * 100));
    footer.run();
    return footer;
  }

  private long block(int block) throws Exception {
    try (Scope scope = new Scope(threads)) {
      List<Future<Long>> rows = new ArrayList<>();
      for (int row = 0; row < 4; row++) {
        int number = block * 10 + row;
        rows.add(scope.fork(() -> queried(number)));
      }
      scope.join();
      long sum = 0;
      for (Future<Long> row : rows) {
        sum += row.get();
      }
      return sum;
    }
  }

  private long queried(int number) throws Exception {
    return backEnd.submit(() -> asked(number)).get();
  }

  private static long asked(int number) {
    slept(8 + number % 3);
    long row = number;
    for (int i = 0; i < 10_000; i++) {
      row = row * 6364136223846793005L + i;
    }
    return row >>> 56;
  }

  private static void slept(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
