package shop.api;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Lets a request in when the workers that it may hold at once are free, and queues it otherwise, first come first
 * served. Tasks that wait for tasks of the same pool stop for ever once they hold all of its workers; the sum of the
 * admitted requests' needs never exceeds the pool, so that cannot happen while those needs are right. Thread-safe;
 * blocks nobody.
 */
final class Admission {
  private record Entry(int need, Runnable start) {}

  private final int capacity;
  private final Queue<Entry> queue = new ArrayDeque<>();
  private int free;

  Admission(int capacity) {
    this.capacity = capacity;
    this.free = capacity;
  }

  int capacity() {
    return capacity;
  }

  void enter(int need, Runnable start) {
    synchronized (this) {
      if (!queue.isEmpty() || need > free) {
        queue.add(new Entry(need, start));
        return;
      }
      free -= need;
    }
    start.run();
  }

  void leave(int need) {
    synchronized (this) {
      free += need;
    }
    for (Runnable next = takeNext(); next != null; next = takeNext()) {
      next.run();
    }
  }

  private synchronized Runnable takeNext() {
    Entry head = queue.peek();
    if (head == null || head.need() > free) {
      return null;
    }
    free -= head.need();
    return queue.remove().start();
  }
}
