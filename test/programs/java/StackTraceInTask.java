package programs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A task that prints where it is; the output must not change when recorded. */
public final class StackTraceInTask {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    String trace = pool.submit(StackTraceInTask::here).get();
    System.out.print(trace);
    System.out.print(CompletableFuture.supplyAsync(StackTraceInTask::here, pool).join());
    try {
      pool.submit(StackTraceInTask::fail).get();
    } catch (ExecutionException e) {
      System.out.print(text(e));
    }
    Facts.finish(pool);
    Facts.print("tasks", 3, "exceptions", 1, "waits", 3, "workers", 1);
  }

  private static String here() {
    return text(new Throwable("here"));
  }

  private static void fail() {
    throw new IllegalStateException("meant to fail");
  }

  private static String text(Throwable throwable) {
    StringBuilder lines = new StringBuilder(throwable.toString()).append('\n');
    for (Throwable each = throwable; each != null; each = each.getCause()) {
      for (StackTraceElement frame : each.getStackTrace()) {
        lines.append("  at ").append(frame).append('\n');
      }
    }
    return lines.toString();
  }
}
