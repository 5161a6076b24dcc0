package unseen;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A matrix multiplied by itself again and again, row blocks on two workers, a latch for each product. Two cores: nothing is to be gained. */
public final class Blocks {
  private static final int SIZE = 256, ROWS = 16;

  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2));
    double[] a = new double[SIZE * SIZE];
    for (int i = 0; i < a.length; i++) {
      a[i] = (i * 31 % 97) / 97.0;
    }
    Stopwatch watch = new Stopwatch();
    double[] product = a;
    for (int step = 0; step < 50; step++) {
      product = multiply(pool, product, a);
    }
    double sum = 0;
    for (double value : product) {
      sum += value;
    }
    watch.print(Math.round(sum * 1000));
    pool.shutdown();
  }

  private static double[] multiply(ExecutorService pool, double[] a, double[] b) throws InterruptedException {
    double[] result = new double[a.length];
    CountDownLatch done = new CountDownLatch(SIZE / ROWS);
    for (int from = 0; from < SIZE; from += ROWS) {
      final int first = from;
      pool.execute(() -> {
        block(a, b, result, first);
        done.countDown();
      });
    }
    done.await();
    double most = 0;
    for (double value : result) {
      most = Math.max(most, value);
    }
    for (int i = 0; i < result.length; i++) {
      result[i] /= most;
    }
    return result;
  }

  private static void block(double[] a, double[] b, double[] result, int from) {
    for (int row = from; row < from + ROWS; row++) {
      for (int k = 0; k < SIZE; k++) {
        double factor = a[row * SIZE + k];
        for (int column = 0; column < SIZE; column++) {
          result[row * SIZE + column] += factor * b[k * SIZE + column];
        }
      }
    }
  }
}
