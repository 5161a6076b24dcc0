package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/**
 * Twelve workers ask a data base, for which there are three connections: a semaphore, as connection pools have one. Twins: more
 * connections.
 */
public final class Queries {
  private final Semaphore connections;

  private Queries(int count) {
    connections = new Semaphore(count);
  }

  public static void main(String[] arguments) throws Exception {
    Queries queries = new Queries(Stopwatch.size(arguments, 3));
    ExecutorService pool = Executors.newFixedThreadPool(12);
    Stopwatch watch = new Stopwatch();
    List<Future<Long>> answers = new ArrayList<>();
    for (int number = 0; number < 400; number++) {
      long page = number;
      answers.add(pool.submit(() -> queries.page(page)));
    }
    long sum = 0;
    for (Future<Long> answer : answers) {
      sum ^= answer.get();
    }
    watch.print(sum);
    pool.shutdown();
  }

  private long page(long number) throws InterruptedException {
    long head = drawn(number + 7, 30_000);
    Thread.sleep(3);
    return head ^ ask(number) ^ drawn(head, 10_000);
  }

  private long ask(long number) throws InterruptedException {
    connections.acquire();
    try {
      Thread.sleep(4 + number % 5);
      return drawn(number + 1, 20_000);
    } finally {
      connections.release();
    }
  }

  private static long drawn(long seed, int rounds) {
    long x = seed | 1;
    for (int i = 0; i < rounds; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }
}
