import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** progress.cc in Java: tasks of a pool in place of critical sections. The arguments are the same. */
class Progress {
  private static final int STAMPS = 24;
  private static final int TASKS_MAX = 1 << 20;
  private static final long WORK_NS = 100_000;

  public static void main(String[] arguments) throws Exception {
    MappedByteBuffer progress;
    try (RandomAccessFile file = new RandomAccessFile(arguments[0], "rw")) {
      progress = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, STAMPS + 8L * TASKS_MAX);
    }
    progress.order(ByteOrder.LITTLE_ENDIAN);
    ExecutorService pool = Executors.newFixedThreadPool(1);
    int count = Math.min(Integer.parseInt(arguments[1]), TASKS_MAX);
    for (int i = 0; i < count; ++i) {
      pool.submit(Progress::work).get();
      progress.putLong(STAMPS + 8 * i, System.nanoTime());
      progress.putLong(0, i + 1);
    }
    progress.putLong(8, 1);
    pool.shutdown();
    System.exit(33);
  }

  private static void work() {
    long end = System.nanoTime() + WORK_NS;
    while (System.nanoTime() < end) {}
  }
}
