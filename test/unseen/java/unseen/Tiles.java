package unseen;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Map tiles are fetched and decoded by a home-made pool: threads, a deque, wait and notify. Twins: more threads than three. */
public final class Tiles {
  private static final class Workers {
    private final Deque<Runnable> jobs = new ArrayDeque<>();
    private boolean closed;

    Workers(int size) {
      for (int i = 0; i < size; i++) {
        new Thread(this::work, "tiles-" + i).start();
      }
    }

    synchronized void add(Runnable job) {
      jobs.addLast(job);
      notify();
    }

    synchronized void close() {
      closed = true;
      notifyAll();
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

  private static final class Tile implements Runnable {
    private final int key;
    private int colour = -1;

    Tile(int key) {
      this.key = key;
    }

    @Override
    public void run() {
      int decoded = decode(fetch(key));
      synchronized (this) {
        colour = decoded;
        notifyAll();
      }
    }

    synchronized int await() throws InterruptedException {
      while (colour < 0) {
        wait();
      }
      return colour;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Workers workers = new Workers(Stopwatch.size(arguments, 3));
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int view = 0; view < 15; view++) {
      List<Tile> tiles = new ArrayList<>();
      for (int i = 0; i < 14; i++) {
        Tile tile = new Tile(view * 14 + i);
        tiles.add(tile);
        workers.add(tile);
      }
      for (Tile tile : tiles) {
        sum += tile.await();
      }
    }
    watch.print(sum);
    workers.close();
  }

  private static int fetch(int key) {
    try {
      Thread.sleep(9 + key % 7);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return key;
  }

  private static int decode(int key) {
    int hash = key;
    for (int i = 0; i < 200_000; i++) {
      hash = hash * 31 + (i ^ hash >>> 7);
    }
    return hash & 0xFFF;
  }
}
