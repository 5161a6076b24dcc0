package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Invoices are tasks of a pool, and so is each one's tax and each one's delivery, which it waits for. A day's invoices fill the pool. Twins:
 * "inline", the tax, asked for last and awaited first, is worked out in place; "delivery", that is waited for in place; more workers.
 */
public final class Invoices {
  private final ExecutorService pool;
  private final boolean ownTax;
  private final boolean ownDelivery;

  private Invoices(String[] arguments) {
    pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 6));
    ownTax = Stopwatch.isTwin(arguments, "inline");
    ownDelivery = Stopwatch.isTwin(arguments, "delivery");
  }

  public static void main(String[] arguments) throws Exception {
    Invoices program = new Invoices(arguments);
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int day = 0; day < 10; day++) {
      List<Future<Integer>> invoices = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        final int number = day * 10 + i;
        invoices.add(program.pool.submit(() -> program.invoice(number)));
      }
      for (Future<Integer> invoice : invoices) {
        sum += invoice.get();
      }
    }
    watch.print(sum);
    program.pool.shutdown();
  }

  private int invoice(int number) throws Exception {
    int total = 0;
    for (int line = 0; line < 3; line++) {
      final int row = number * 3 + line;
      if (ownDelivery) {
        int days = delivery(row);
        total += taxed(row).get() + days;
        continue;
      }
      Future<Integer> delivery = pool.submit(() -> delivery(row));
      total += ownTax ? tax(row) + delivery.get() : taxed(row).get() + delivery.get();
    }
    return total;
  }

  private Future<Integer> taxed(int row) {
    return pool.submit(() -> tax(row));
  }

  private static int tax(int row) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 20_000; i++) {
      text.append(row * i % 7).append(';');
    }
    return text.toString().hashCode() & 0xFF;
  }

  private static int delivery(int row) throws InterruptedException {
    Thread.sleep(15);
    return row % 11;
  }
}
