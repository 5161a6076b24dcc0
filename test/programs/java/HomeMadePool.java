package programs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Pools that the program made itself, no Executors: threads, a deque, wait and notify. One queues what it gets, one what it wraps it in.
 * Beside them what looks like one, and runs nothing.
 */
public final class HomeMadePool {
  private static int done;

  public static void main(String[] arguments) throws Exception {
    Pool pool = new Pool();
    Bell bell = new Bell();
    for (int i = 0; i < 12; i++) {
      pool.add(HomeMadePool::work);
      bell.onRing(() -> done++);
    }
    Desk desk = new Desk();
    List<Desk.Order<Integer>> orders = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int number = i;
      orders.add(desk.give(() -> number));
    }
    int sum = 0;
    for (Desk.Order<Integer> order : orders) {
      sum += order.result();
    }
    pool.close();
    desk.close();
    bell.ring();
    Facts.print("tasks", 20, "ends", 20, "threads", 3, "waits", 3, "done", done, "sum", sum);
  }

  private static synchronized void work() {
    done++;
  }

  /** Calls whom it was given, as listeners are: no tasks. */
  private static final class Bell {
    private final List<Runnable> listeners = new ArrayList<>();

    void onRing(Runnable listener) {
      listeners.add(listener);
    }

    void ring() {
      for (Runnable listener : listeners) {
        listener.run();
      }
    }
  }

  private static final class Desk {
    private final LinkedBlockingQueue<Order<?>> orders = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::work, "own-2");

    Desk() {
      thread.start();
    }

    <T> Order<T> give(Callable<T> work) {
      Order<T> order = new Order<>(work);
      orders.add(order);
      return order;
    }

    void close() throws InterruptedException {
      thread.interrupt();
      thread.join();
    }

    private void work() {
      try {
        while (true) {
          orders.take().make();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private static final class Order<T> {
      private final Callable<T> work;
      private final CountDownLatch made = new CountDownLatch(1);
      private T result;

      Order(Callable<T> work) {
        this.work = work;
      }

      void make() {
        try {
          result = work.call();
        } catch (Exception e) {
          result = null;
        }
        made.countDown();
      }

      T result() throws InterruptedException {
        made.await();
        return result;
      }
    }
  }

  private static final class Pool {
    private final Deque<Runnable> jobs = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private boolean closed;

    Pool() {
      for (int i = 0; i < 2; i++) {
        Thread thread = new Thread(this::work, "own-" + i);
        threads.add(thread);
        thread.start();
      }
    }

    synchronized void add(Runnable job) {
      jobs.addLast(job);
      notify();
    }

    void close() throws InterruptedException {
      synchronized (this) {
        closed = true;
        notifyAll();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }

    private synchronized Runnable next() throws InterruptedException {
      while (jobs.isEmpty() && !closed) {
        wait();
      }
      return jobs.pollFirst();
    }

    private void work() {
      try {
        for (Runnable job = next(); job != null; job = next()) {
          job.run();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
