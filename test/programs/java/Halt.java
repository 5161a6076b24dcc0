package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Runtime.halt, which runs no hooks, after two hundred tasks. */
public final class Halt {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    for (int i = 0; i < 200; i++) {
      int result = i;
      pool.submit(() -> result).get();
    }
    // What is not yet written when a process is halted may be lost, but only that of the last tenth of a second.
    Thread.sleep(300);
    Facts.print("tasks", 200, "ends", 200, "waits", 200, "workers", 2);
    System.out.flush();
    Runtime.getRuntime().halt(5);
  }
}
