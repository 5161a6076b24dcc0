package programs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A pool that the program made itself, no Executor: threads, a deque, wait and notify. Beside it what looks like one, and runs nothing. */
public final class HomeMadePool {
  private static int done;

  public static void main(String[] arguments) throws Exception {
    Pool pool = new Pool();
    Bell bell = new Bell();
    for (int i = 0; i < 12; i++) {
      pool.add(HomeMadePool::work);
      bell.onRing(() -> done++);
    }
    pool.close();
    bell.ring();
    Facts.print("tasks", 12, "ends", 12, "threads", 2, "waits", 2, "done", done);
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
