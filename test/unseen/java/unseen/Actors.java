package unseen;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Actors: each has a mailbox, and is handed to the pool when a letter comes to an empty one; it reads a few letters at a time, and is handed
 * out again if there are more. Twins: more threads.
 */
public final class Actors {
  private static final int LETTERS = 30;

  private static final class Actor implements Runnable {
    private final ConcurrentLinkedQueue<Integer> mailbox = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private final ExecutorService pool;
    private final CountDownLatch read;
    private final AtomicLong sum;

    Actor(ExecutorService pool, CountDownLatch read, AtomicLong sum) {
      this.pool = pool;
      this.read = read;
      this.sum = sum;
    }

    void tell(int letter) {
      mailbox.add(letter);
      schedule();
    }

    private void schedule() {
      if (scheduled.compareAndSet(false, true)) {
        pool.execute(this);
      }
    }

    @Override
    public void run() {
      for (int i = 0; i < 3; i++) {
        Integer letter = mailbox.poll();
        if (letter == null) {
          break;
        }
        sum.addAndGet(read(letter));
        read.countDown();
      }
      scheduled.set(false);
      if (!mailbox.isEmpty()) {
        schedule();
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2));
    Stopwatch watch = new Stopwatch();
    AtomicLong sum = new AtomicLong();
    CountDownLatch read = new CountDownLatch(8 * LETTERS);
    Actor[] actors = new Actor[8];
    for (int i = 0; i < actors.length; i++) {
      actors[i] = new Actor(pool, read, sum);
    }
    for (int letter = 0; letter < LETTERS; letter++) {
      for (int i = 0; i < actors.length; i++) {
        actors[i].tell(letter * 8 + i);
      }
    }
    read.await();
    watch.print(sum.get());
    pool.shutdown();
  }

  private static int read(int letter) {
    try {
      Thread.sleep(2 + letter % 4);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int meaning = letter;
    for (int word = 0; word < 70_000; word++) {
      meaning = meaning * 13 + (word ^ letter);
    }
    return meaning & 0xFFF;
  }
}
