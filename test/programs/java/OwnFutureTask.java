package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** An executor that makes futures of its own class by newTaskFor. */
public final class OwnFutureTask {
  private static final AtomicInteger DONE = new AtomicInteger();

  public static void main(String[] arguments) throws Exception {
    List<String> made = new ArrayList<>();
    ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>()) {
      @Override
      protected <T> RunnableFuture<T> newTaskFor(Callable<T> body) {
        made.add("callable");
        return new Counted<>(body);
      }
    };
    int sum = 0;
    for (int i = 0; i < 15; i++) {
      int result = i;
      Future<Integer> future = pool.submit(() -> result);
      sum += future.get();
    }
    Facts.finish(pool);
    Facts.print("tasks", made.size(), "ends", DONE.get(), "waits", 15, "workers", 2, "sum", sum);
  }

  private static final class Counted<T> extends FutureTask<T> {
    Counted(Callable<T> body) {
      super(body);
    }

    @Override
    protected void done() {
      DONE.incrementAndGet();
    }
  }
}
