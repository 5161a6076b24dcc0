package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/**
 * Seats are booked on a pool; each booking prepares itself, and asks an office that has four lines only: a semaphore inside of the task. Twins:
 * more threads, which gain until the lines are busy.
 */
public final class Bookings {
  private static final Semaphore LINES = new Semaphore(4);

  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 3));
    Stopwatch watch = new Stopwatch();
    List<Future<Integer>> seats = new ArrayList<>();
    for (int seat = 0; seat < 150; seat++) {
      seats.add(handedOut(pool, seat));
    }
    long sum = 0;
    for (Future<Integer> seat : seats) {
      sum += seat.get();
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static Future<Integer> handedOut(ExecutorService pool, int seat) {
    return pool.submit(() -> book(seat));
  }

  private static int book(int seat) throws InterruptedException {
    Thread.sleep(3 + seat % 5);
    int form = seat;
    for (int field = 0; field < 40_000; field++) {
      form = form * 17 + field % 91;
    }
    LINES.acquire();
    try {
      Thread.sleep(8 + seat % 7);
    } finally {
      LINES.release();
    }
    return form & 0xFFF;
  }
}
