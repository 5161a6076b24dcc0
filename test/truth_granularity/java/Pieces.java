import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Pieces of different size, each a task by default. A setting of twice, three times ... as many cuts each into as many even
 * parts, which follow each other; one below puts the same number of neighbours into each task, the last may get fewer.
 */
final class Pieces {
  private final int[] sizes;
  private final int steps;

  /** {@code sizes} in items, of {@code steps} steps each. */
  Pieces(int[] sizes, int steps) {
    this.sizes = sizes;
    this.steps = steps;
  }

  int count() {
    return sizes.length;
  }

  /** What each of {@code tasks} tasks does. */
  List<LongSupplier> tasks(int tasks) {
    List<LongSupplier> bodies = new ArrayList<>();
    if (tasks >= sizes.length) {
      if (tasks % sizes.length != 0) {
        throw new IllegalArgumentException("a multiple of " + sizes.length + ", or less");
      }
      int parts = tasks / sizes.length;
      for (int piece = 0; piece < sizes.length; piece++) {
        for (int part = 0; part < parts; part++) {
          int number = piece;
          int from = Work.first(sizes[piece], parts, part);
          int to = Work.first(sizes[piece], parts, part + 1);
          bodies.add(() -> items(number, from, to));
        }
      }
      return bodies;
    }
    int together = (sizes.length + tasks - 1) / tasks;
    for (int from = 0; from < sizes.length; from += together) {
      int first = from;
      int to = Math.min(from + together, sizes.length);
      bodies.add(() -> {
        long sum = 0;
        for (int piece = first; piece < to; piece++) {
          sum += items(piece, 0, sizes[piece]);
        }
        return sum;
      });
    }
    if (bodies.size() != tasks) {
      throw new IllegalArgumentException(sizes.length + " pieces cannot be put into " + tasks + " tasks");
    }
    return bodies;
  }

  private long items(int piece, int from, int to) {
    return Work.items((piece << 20) + from, (piece << 20) + to, steps);
  }
}
