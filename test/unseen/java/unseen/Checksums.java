package unseen;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * One thread hands each record's checksum to a pool and waits for it: a task of some twenty microseconds, so the hand-over costs as much as
 * the work. No warm-up: the compiler runs along. Twin "inline": calls it.
 */
public final class Checksums {
  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService pool = Executors.newFixedThreadPool(2);
    byte[] record = new byte[3_000];
    Stopwatch watch = new Stopwatch();
    long total = 0;
    for (int i = 0; i < 20_000; i++) {
      record[i % record.length] = (byte) i;
      total += inline ? sum(record, i) : check(pool, record, i);
    }
    watch.print(total);
    pool.shutdown();
  }

  private static long check(ExecutorService pool, byte[] record, int seed) throws Exception {
    Future<Long> sum = pool.submit(() -> sum(record, seed));
    return sum.get();
  }

  private static long sum(byte[] record, int seed) {
    long a = 1 + seed, b = 0;
    for (byte value : record) {
      a = (a + (value & 0xFF)) % 65521;
      b = b + a & 0xFFFFFF;
    }
    return a ^ b << 8;
  }
}
