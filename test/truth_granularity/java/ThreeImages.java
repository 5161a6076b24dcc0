import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;

/** Three images, one task each, on a pool of two: the last one is alone. The setting is the tasks of a round, bands of the images. */
public final class ThreeImages {
  private static final int ROUNDS = 12;
  private static final int STEPS = 20_000;
  private static final Pieces IMAGES = new Pieces(new int[] {1000, 1000, 2000}, STEPS);

  public static void main(String[] args) throws Exception {
    int tasks = Work.setting(args, IMAGES.count());
    ExecutorService pool = Executors.newFixedThreadPool(2);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<Future<Long>> bands = new ArrayList<>();
      for (LongSupplier body : IMAGES.tasks(tasks)) {
        bands.add(pool.submit(() -> body.getAsLong()));
      }
      for (Future<Long> band : bands) {
        sum += band.get();
      }
    }
    pool.shutdown();
    Work.print(sum);
  }
}
