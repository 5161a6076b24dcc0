package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;

/**
 * Albums of pictures that come from a slow store, one invokeAll an album; a picture waits for the store and is then made smaller. The pool
 * was sized for computing: two workers for a machine of two cores. Twins: more.
 */
public final class Thumbnails {
  private final ExecutorService workers;

  private Thumbnails(int size) {
    workers = Executors.newFixedThreadPool(size);
  }

  public static void main(String[] arguments) throws Exception {
    Thumbnails program = new Thumbnails(Stopwatch.size(arguments, 2));
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int album = 0; album < 12; album++) {
      sum += program.album(album, 10 + album % 5);
    }
    watch.print(sum);
    program.workers.shutdown();
  }

  private long album(int album, int pictures) throws Exception {
    List<Callable<Integer>> jobs = new ArrayList<>();
    for (int i = 0; i < pictures; i++) {
      final int picture = album * 100 + i;
      jobs.add(() -> shrink(load(picture)));
    }
    long sum = 0;
    for (Future<Integer> done : workers.invokeAll(jobs)) {
      sum += done.get();
    }
    return sum;
  }

  private static byte[] load(int picture) throws InterruptedException {
    Thread.sleep(8 + picture % 9);
    byte[] bytes = new byte[200_000];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i * picture >> 3);
    }
    return bytes;
  }

  private static int shrink(byte[] picture) {
    CRC32 sum = new CRC32();
    for (int round = 0; round < 3; round++) {
      byte[] small = new byte[picture.length / 4];
      for (int i = 0; i < small.length; i++) {
        small[i] = (byte) ((picture[4 * i] + picture[4 * i + 1] + picture[4 * i + 2] + picture[4 * i + 3]) / 4 + round);
      }
      sum.update(small);
    }
    return (int) sum.getValue() & 0xFFFF;
  }
}
