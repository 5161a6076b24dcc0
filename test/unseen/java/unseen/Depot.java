package unseen;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * A home-made pool that wraps what it gets: each order becomes a job with a number, a time and a result, and the queue holds jobs, which
 * are no Runnables. Packing waits for a shelf and computes. Twins: more threads.
 */
public final class Depot {
  /** What the queue holds. */
  private static final class Job<T> {
    private final Callable<T> work;
    private final long since = System.nanoTime();
    private T result;
    private boolean done;

    Job(Callable<T> work) {
      this.work = work;
    }

    void perform() {
      T made;
      try {
        made = work.call();
      } catch (Exception e) {
        made = null;
      }
      synchronized (this) {
        result = made;
        done = true;
        notifyAll();
      }
    }

    synchronized T await() throws InterruptedException {
      while (!done) {
        wait();
      }
      return result;
    }
  }

  private static final class Hands {
    private final ArrayDeque<Job<?>> jobs = new ArrayDeque<>();
    private boolean closed;

    Hands(int size) {
      for (int i = 0; i < size; i++) {
        Thread hand = new Thread(this::work, "hand-" + i);
        hand.setDaemon(true);
        hand.start();
      }
    }

    <T> Job<T> give(Callable<T> work) {
      Job<T> job = new Job<>(work);
      synchronized (jobs) {
        jobs.addLast(job);
        jobs.notify();
      }
      return job;
    }

    private void work() {
      try {
        while (true) {
          Job<?> job;
          synchronized (jobs) {
            while (jobs.isEmpty() && !closed) {
              jobs.wait();
            }
            if (jobs.isEmpty()) {
              return;
            }
            job = jobs.removeFirst();
          }
          job.perform();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    void close() {
      synchronized (jobs) {
        closed = true;
        jobs.notifyAll();
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    Hands hands = new Hands(Stopwatch.size(arguments, 3));
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int van = 0; van < 8; van++) {
      List<Job<Integer>> packed = new ArrayList<>();
      for (int order = 0; order < 18; order++) {
        packed.add(handedOut(hands, van, order));
      }
      for (Job<Integer> parcel : packed) {
        sum += parcel.await();
      }
    }
    watch.print(sum);
    hands.close();
  }

  private static Job<Integer> handedOut(Hands hands, int van, int order) {
    return hands.give(() -> pack(van, order));
  }

  private static int pack(int van, int order) throws InterruptedException {
    Thread.sleep(7 + (van * 5 + order) % 9);
    int weight = van;
    for (int item = 0; item < 60_000; item++) {
      weight = weight * 31 + (item ^ order);
    }
    return weight & 0xFFFF;
  }
}
