import java.util.Random;
import java.util.stream.LongStream;
import smile.classification.RandomForest;
import smile.base.cart.SplitRule;
import smile.data.DataFrame;
import smile.data.formula.Formula;
import smile.data.vector.IntVector;
import smile.clustering.KModes;
import smile.math.MathEx;

/**
 * Smile: a random forest (a parallel stream with one long task for each tree) and clustering by k-modes (parallel
 * streams of short tasks, again and again), on generated data. Standard output is how well the forest classifies what
 * it was not shown, and the clusters' distortion; both follow from the seeds alone.
 */
public final class ForestAndClusters {
  private static final int COLUMNS = 12;
  private static final int CLASSES = 4;

  public static void main(String[] arguments) {
    int rows = Integer.parseInt(arguments[0]);
    int trees = Integer.parseInt(arguments[1]);
    int rounds = Integer.parseInt(arguments[2]);
    double[][] values = new double[rows][COLUMNS];
    int[] labels = new int[rows];
    generate(values, labels);

    long begin = System.nanoTime();
    String forest = forest(values, labels, trees);
    String clusters = clusters(values, rounds);
    System.err.println("work_ns=" + (System.nanoTime() - begin));
    System.out.println(forest);
    System.out.println(clusters);
  }

  private static void generate(double[][] values, int[] labels) {
    Random random = new Random(1);
    for (int row = 0; row < values.length; row++) {
      labels[row] = random.nextInt(CLASSES);
      for (int column = 0; column < COLUMNS; column++) {
        values[row][column] = random.nextGaussian() + (column % CLASSES == labels[row] ? 1 : 0);
      }
    }
  }

  private static String forest(double[][] values, int[] labels, int trees) {
    DataFrame data = DataFrame.of(values).merge(IntVector.of("label", labels));
    RandomForest forest = RandomForest.fit(Formula.lhs("label"), data, trees, 3, SplitRule.GINI, 16, 500, 5, 0.5, null,
        LongStream.range(2, trees + 2));  // a seed of 1 would be ignored, and that tree depend on which thread grows it
    return String.format("forest of %d trees, accuracy %.4f", forest.size(), forest.metrics().accuracy);
  }

  private static String clusters(double[][] values, int rounds) {
    int[][] levels = new int[values.length][COLUMNS];
    for (int row = 0; row < values.length; row++) {
      for (int column = 0; column < COLUMNS; column++) levels[row][column] = (int) (2 * values[row][column]);
    }
    double distortion = 0;
    for (int round = 0; round < rounds; round++) {
      MathEx.setSeed(round + 1);
      distortion += KModes.fit(levels, 8, 30).distortion;
    }
    return String.format("clusters, mean distortion %.4f", distortion / rounds);
  }
}
