/** What the programs have in common: computing of a known number of steps, and how items are divided among tasks. */
final class Work {
  /** More bits than {@link #spin} yields. Not final: what it shifts away shall not be known to a compiler. */
  private static int allBits = 24;

  private Work() {}

  /** Computes; each step needs the last. About 2 ns a step. The result has 24 bits. */
  static long spin(long seed, int steps) {
    long value = seed;
    for (int i = 0; i < steps; i++) {
      value = (value ^ value >>> 29) * 6364136223846793005L + 1442695040888963407L;
    }
    return value >>> 40;
  }

  /**
   * The sum of {@code steps} steps for each item. An item waits for the last one of its task: else a processor computes the end
   * of one and the beginning of the next together, and the same items take less time in one task than in two.
   */
  static long items(int from, int to, int steps) {
    long sum = 0;
    long last = 0;
    for (int item = from; item < to; item++) {
      last = spin(item + (last >>> allBits), steps);
      sum += last;
    }
    return sum;
  }

  /** The first of {@code items} that belongs to a task, of {@code tasks} that get neighbours and differ by one at most. */
  static int first(int items, int tasks, int task) {
    if (tasks > items) {
      throw new IllegalArgumentException("there are " + items + " items");
    }
    return (int) ((long) items * task / tasks);
  }

  /** The argument: how many tasks (threads) a round has. */
  static int setting(String[] args, int byDefault) {
    return setting(args, byDefault, 1);
  }

  /** The argument: down to which level there are tasks; 0 is that of the outermost. */
  static int level(String[] args, int byDefault) {
    return setting(args, byDefault, 0);
  }

  private static int setting(String[] args, int byDefault, int least) {
    int setting = args.length == 0 ? byDefault : Integer.parseInt(args[0]);
    if (args.length > 1 || setting < least) {
      throw new IllegalArgumentException("at most one argument, a number from " + least + " on");
    }
    return setting;
  }

  static void print(long sum) {
    System.out.println("result " + sum);
  }
}
