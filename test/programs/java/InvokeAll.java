package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Twenty rounds of invokeAll over five callables, of which the first is never done before it is waited for. */
public final class InvokeAll {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    Thread main = Thread.currentThread();
    int sum = 0;
    for (int round = 0; round < 20; round++) {
      List<Callable<Integer>> calls = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        int result = i;
        calls.add(() -> {
          if (result == 0) {
            Facts.awaitWait(main);  // so that invokeAll finds one at least that is not done
          }
          return result;
        });
      }
      for (Future<Integer> future : pool.invokeAll(calls)) {
        sum += future.get();
      }
    }
    Facts.finish(pool);
    Facts.print("tasks", 100, "ends", 100, "invoke_all", 20, "gets", 100, "workers", 3, "sum", sum);
  }
}
