import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Threads that begin together, and the time from then until the last one ends, on standard error. What they found goes to standard output. */
final class Crew {
  static final int THREADS = 4;

  interface Part {
    long run(int number) throws Exception;
  }

  /** Runs the part of each thread, and returns the sum of what they return: no order of the threads changes it. */
  static long run(Part part) throws InterruptedException {
    long[] found = new long[THREADS];
    List<Throwable> failures = new ArrayList<>();
    CountDownLatch start = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int number = i;
      Thread thread = new Thread(() -> {
        try {
          start.await();
          found[number] = part.run(number);
        } catch (Throwable failure) {
          synchronized (failures) {
            failures.add(failure);
          }
        }
      }, "worker-" + i);
      threads.add(thread);
      thread.start();
    }
    long begin = System.nanoTime();
    start.countDown();
    for (Thread thread : threads) thread.join();
    System.err.println("work_ns=" + (System.nanoTime() - begin));
    if (!failures.isEmpty()) throw new IllegalStateException(failures.get(0));
    long sum = 0;
    for (long one : found) sum += one;
    return sum;
  }

  static boolean isTwin(String[] arguments) {
    if (!arguments[0].equals("base") && !arguments[0].equals("twin")) throw new IllegalArgumentException("base or twin, not " + arguments[0]);
    return arguments[0].equals("twin");
  }

  static int count(String[] arguments) {
    return Integer.parseInt(arguments[1]);
  }

  private Crew() {}
}
