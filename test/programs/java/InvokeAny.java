package programs;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** invokeAny over three callables, of which only the last succeeds, so that all three run. */
public final class InvokeAny {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    AtomicInteger ran = new AtomicInteger();
    int sum = 0;
    for (int round = 0; round < 10; round++) {
      Callable<Integer> failing = () -> {
        ran.incrementAndGet();
        throw new IllegalStateException("meant to fail");
      };
      sum += pool.invokeAny(List.of(failing, failing, ran::incrementAndGet));
    }
    Facts.finish(pool);
    Facts.print("tasks", ran.get(), "exceptions", 20, "invoke_any", 10, "workers", 1, "sum", sum);
  }
}
