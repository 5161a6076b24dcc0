package programs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Futures completed by another thread, by completeAsync, or by a time limit; joined before that. */
public final class FutureByHand {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    int sum = 0;
    for (int i = 0; i < 5; i++) {
      CompletableFuture<Integer> byHand = new CompletableFuture<>();
      Thread completer = new Thread(() -> byHand.complete(1));
      completer.start();
      sum += byHand.join();
      completer.join();
      sum += new CompletableFuture<Integer>().completeAsync(() -> 10, pool).join();
      sum += new CompletableFuture<Integer>().completeOnTimeout(100, 5, TimeUnit.MILLISECONDS).join();
    }
    int timeouts = 0;
    try {
      new CompletableFuture<Integer>().orTimeout(5, TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      timeouts++;
    }
    Facts.finish(pool);
    Facts.print("threads", 5, "tasks", 5, "timers", 6, "waits", 21, "timeouts", timeouts, "sum", sum);
  }
}
