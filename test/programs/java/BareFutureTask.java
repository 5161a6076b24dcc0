package programs;

import java.util.concurrent.FutureTask;

/** FutureTasks run by plain threads, and some by the thread that asks for the result. */
public final class BareFutureTask {
  public static void main(String[] arguments) throws Exception {
    int sum = 0;
    for (int i = 0; i < 20; i++) {
      int result = i;
      FutureTask<Integer> task = new FutureTask<>(() -> result);
      if (i % 2 == 0) {
        new Thread(task).start();
      } else {
        task.run();
      }
      sum += task.get();
    }
    Facts.print("tasks", 20, "ends", 20, "threads", 10, "waits", 20, "sum", sum);
  }
}
