package programs;

import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An ExecutorCompletionService: results are taken in the order in which they come. */
public final class CompletionService {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    ExecutorCompletionService<Integer> service = new ExecutorCompletionService<>(pool);
    for (int i = 0; i < 30; i++) {
      int result = i;
      service.submit(() -> {
        Thread.sleep(result % 3);
        return result;
      });
    }
    int sum = 0;
    for (int i = 0; i < 30; i++) {
      sum += service.take().get();
    }
    Facts.finish(pool);
    Facts.print("tasks", 30, "ends", 30, "takes", 30, "waits", 30, "workers", 4, "sum", sum);
  }
}
