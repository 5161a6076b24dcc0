package traced;

/** Methods to trace: of two threads, with recursion, exceptions and a constructor. */
public final class Traced {
  public static void main(String[] arguments) throws Exception {
    Thread other = new Thread(() -> work(3));
    other.start();
    int failed = 0;
    for (int i = 0; i < 10; i++) {
      try {
        failing(i);
      } catch (IllegalStateException e) {
        failed++;
      }
    }
    other.join();
    new Traced(failed).leaf();
    System.out.println("failed " + failed);
  }

  private final int count;

  private Traced(int count) {
    this.count = count;
  }

  private int leaf() {
    return count;
  }

  private static void work(int depth) {
    if (depth > 0) {
      work(depth - 1);
    }
  }

  private static void failing(int i) {
    if (i % 2 == 0) {
      throw new IllegalStateException("meant to fail");
    }
  }
}
