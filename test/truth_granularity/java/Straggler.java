import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.function.LongSupplier;

/**
 * Sixteen files of uneven size in a fork-join pool; the largest comes last, and is larger than the others together. The setting is
 * the tasks of a round.
 */
public final class Straggler {
  private static final int ROUNDS = 10;
  private static final int STEPS = 5_000;
  private static final Pieces FILES =
      new Pieces(new int[] {400, 560, 480, 640, 320, 480, 560, 480, 640, 400, 720, 480, 560, 640, 480, 10_976}, STEPS);

  public static void main(String[] args) {
    int tasks = Work.setting(args, FILES.count());
    ForkJoinPool pool = new ForkJoinPool(2);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<ForkJoinTask<Long>> files = new ArrayList<>();
      for (LongSupplier body : FILES.tasks(tasks)) {
        files.add(pool.submit(() -> body.getAsLong()));
      }
      for (ForkJoinTask<Long> file : files) {
        sum += file.join();
      }
    }
    pool.shutdown();
    Work.print(sum);
  }
}
