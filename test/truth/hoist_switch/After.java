package hoist_switch;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import truth.Load;
import truth.Work;

/** Only the parts that ask another machine are tasks. */
public final class After {
  private static final ExecutorService POOL = Executors.newFixedThreadPool(40);

  private enum Kind { TEXT, COUNTER, REMOTE }

  // The small parts of a page are many: what they occupy at once is more than what the arrival of requests varies by.
  private static final Kind[] PARTS = {Kind.REMOTE, Kind.REMOTE, Kind.TEXT, Kind.COUNTER, Kind.TEXT, Kind.COUNTER,
      Kind.TEXT, Kind.COUNTER, Kind.TEXT, Kind.COUNTER, Kind.TEXT, Kind.COUNTER};

  public static void main(String[] arguments) throws Exception {
    System.out.println("result " + Load.open(POOL, 150, After::serve));
    POOL.shutdown();
  }

  private static long serve(int number) {
    List<CompletableFuture<Integer>> parts = new ArrayList<>();
    for (int k = 0; k < PARTS.length; k++) {
      parts.add(startPart(PARTS[k], number + k));
    }
    long sum = 0;
    for (CompletableFuture<Integer> part : parts) {
      sum += part.join();
    }
    return sum;
  }

  private static CompletableFuture<Integer> startPart(Kind kind, int id) {
    switch (kind) {
      case TEXT:
        return CompletableFuture.completedFuture(text(id));
      case COUNTER:
        return CompletableFuture.completedFuture(counter(id));
      default:
        return CompletableFuture.supplyAsync(() -> remote(id), POOL);
    }
  }

  private static int text(int id) {
    return id % 3;
  }

  private static int counter(int id) {
    Work.waitUs(120);
    return id % 5;
  }

  private static int remote(int id) {
    Work.waitMs(14);
    return id % 11;
  }
}
