package unseen;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveTask;

/**
 * k-means as in well-known benchmarks: each round is one fork-join task that splits the points unevenly, and the main thread moves the
 * centres. It computes. Twins: a second and a fourth thread.
 */
public final class Clusters {
  private static final int POINTS = 160_000;
  private static final int CENTRES = 12;
  private static final double[] x = new double[POINTS];
  private static final double[] y = new double[POINTS];

  private static final class Assign extends RecursiveTask<double[]> {
    private final int from, to;
    private final double[] centres;

    Assign(int from, int to, double[] centres) {
      this.from = from;
      this.to = to;
      this.centres = centres;
    }

    @Override
    protected double[] compute() {
      if (to - from <= 6000) {
        return assigned(from, to, centres);
      }
      int cut = from + (to - from) / 3;
      Assign left = new Assign(from, cut, centres);
      Assign right = new Assign(cut, to, centres);
      ForkJoinTask.invokeAll(left, right);
      return added(left.join(), right.join());
    }
  }

  public static void main(String[] arguments) {
    for (int i = 0; i < POINTS; i++) {
      x[i] = (i * 7919L % 10_007) / 10_007.0;
      y[i] = (i * 104_729L % 10_009) / 10_009.0;
    }
    double[] centres = new double[2 * CENTRES];
    for (int c = 0; c < CENTRES; c++) {
      centres[2 * c] = x[c * 1000];
      centres[2 * c + 1] = y[c * 1000];
    }
    ForkJoinPool pool = new ForkJoinPool(Stopwatch.size(arguments, 1));
    Stopwatch watch = new Stopwatch();
    for (int round = 0; round < 300; round++) {
      double[] sums = pool.invoke(new Assign(0, POINTS, centres));
      for (int c = 0; c < CENTRES; c++) {
        centres[2 * c] = sums[3 * c] / Math.max(1, sums[3 * c + 2]);
        centres[2 * c + 1] = sums[3 * c + 1] / Math.max(1, sums[3 * c + 2]);
      }
    }
    watch.print(Math.round(centres[0] * 1000) + Math.round(centres[5] * 1000));
    pool.shutdown();
  }

  private static double[] assigned(int from, int to, double[] centres) {
    double[] sums = new double[3 * CENTRES];
    for (int i = from; i < to; i++) {
      int nearest = 0;
      double least = Double.MAX_VALUE;
      for (int c = 0; c < CENTRES; c++) {
        double dx = x[i] - centres[2 * c], dy = y[i] - centres[2 * c + 1], distance = dx * dx + dy * dy;
        if (distance < least) {
          least = distance;
          nearest = c;
        }
      }
      sums[3 * nearest] += x[i];
      sums[3 * nearest + 1] += y[i];
      sums[3 * nearest + 2]++;
    }
    return sums;
  }

  private static double[] added(double[] one, double[] other) {
    for (int i = 0; i < one.length; i++) {
      one[i] += other[i];
    }
    return one;
  }
}
