package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tickets are handled by four threads; what each looks up goes through one thread that keeps the connection, fails now and then, and is then
 * looked up again ({@code handle}, {@code whenComplete}, {@code exceptionally}). Twins: two or three connections; eight handlers, which gain nothing.
 */
public final class Tickets {
  private static final AtomicInteger failures = new AtomicInteger();

  public static void main(String[] arguments) {
    boolean wide = Stopwatch.isTwin(arguments, "handlers");
    ExecutorService handlers = Executors.newFixedThreadPool(wide ? 8 : 4);
    ExecutorService connection = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    Stopwatch watch = new Stopwatch();
    List<CompletableFuture<Integer>> tickets = new ArrayList<>();
    for (int i = 0; i < 110; i++) {
      int ticket = i;
      tickets.add(CompletableFuture.supplyAsync(() -> read(ticket), handlers)
                      .thenCompose(read -> lookedUp(connection, ticket, read))
                      .handle((row, failure) -> failure == null ? row : -ticket)
                      .thenCompose(row -> row >= 0 ? CompletableFuture.completedFuture(row) : lookedUp(connection, ticket + 1, -row))
                      .thenApplyAsync(Tickets::answered, handlers)
                      .whenComplete((answer, failure) -> failures.addAndGet(failure == null ? 0 : 1))
                      .exceptionally(failure -> 0));
    }
    int sum = tickets.stream().mapToInt(CompletableFuture::join).sum();
    watch.print(sum + failures.get());
    handlers.shutdown();
    connection.shutdown();
  }

  private static CompletableFuture<Integer> lookedUp(Executor connection, int ticket, int read) {
    return CompletableFuture.supplyAsync(() -> row(ticket, read), connection);
  }

  private static int read(int ticket) {
    slept(4 + ticket % 3);
    return ticket * 3;
  }

  private static int row(int ticket, int read) {
    slept(6 + ticket % 4);
    if (ticket % 13 == 12) {
      throw new CompletionException(new IllegalStateException("no row " + ticket));
    }
    return read + ticket;
  }

  private static int answered(int row) {
    slept(5);
    int text = row;
    for (int i = 0; i < 50_000; i++) {
      text = text * 31 + (i ^ row);
    }
    return text & 0xFFF;
  }

  private static void slept(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
