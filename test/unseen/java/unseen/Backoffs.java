package unseen;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calls that fail twice and are handed out again after a while, by a {@code ScheduledExecutorService} that sends them to a pool of two.
 * Twins: more senders, sent by the scheduler's thread itself.
 */
public final class Backoffs {
  private static final int CALLS = 90;
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final ExecutorService senders;
  private final CountDownLatch done = new CountDownLatch(CALLS);
  private final AtomicLong sum = new AtomicLong();
  private final boolean sentInPlace;

  private Backoffs(String[] arguments) {
    senders = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2));
    sentInPlace = Stopwatch.isTwin(arguments, "inline");
  }

  public static void main(String[] arguments) throws InterruptedException {
    Backoffs backoffs = new Backoffs(arguments);
    Stopwatch watch = new Stopwatch();
    for (int call = 0; call < CALLS; call++) {
      int number = call;
      backoffs.clock.schedule(() -> backoffs.tried(number, 0), call / 3, TimeUnit.MILLISECONDS);
    }
    backoffs.done.await();
    watch.print(backoffs.sum.get());
    backoffs.clock.shutdown();
    backoffs.senders.shutdown();
  }

  private void tried(int call, int attempt) {
    if (sentInPlace) {
      answered(call, attempt, sent(call, attempt));
    } else {
      sentAside(call, attempt);
    }
  }

  private void sentAside(int call, int attempt) {
    CompletableFuture.supplyAsync(() -> sent(call, attempt), senders).thenAccept(answer -> answered(call, attempt, answer));
  }

  private void answered(int call, int attempt, int answer) {
    if (answer < 0) {
      clock.schedule(() -> tried(call, attempt + 1), 10 << attempt, TimeUnit.MILLISECONDS);
      return;
    }
    sum.addAndGet(answer);
    done.countDown();
  }

  private static int sent(int call, int attempt) {
    try {
      Thread.sleep(3 + call % 3);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return attempt < call % 3 ? -1 : call * 7 % 100;
  }
}
