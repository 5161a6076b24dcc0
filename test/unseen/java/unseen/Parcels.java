package unseen;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Parcels go through a queue to three packers, long tasks of a pool, each of which asks the printers, a pool of two, for a label while it
 * weighs. Twin "inline": a packer prints itself, after weighing; "4": four printers.
 */
public final class Parcels {
  private static final int PACKERS = 3, END = -1;

  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService packers = Executors.newFixedThreadPool(PACKERS);
    ExecutorService printers = Executors.newFixedThreadPool(Stopwatch.size(arguments, 2));
    BlockingQueue<Integer> parcels = new LinkedBlockingQueue<>();
    AtomicLong sum = new AtomicLong();
    Stopwatch watch = new Stopwatch();
    Future<?>[] shifts = new Future<?>[PACKERS];
    for (int i = 0; i < PACKERS; i++) {
      shifts[i] = packers.submit(() -> pack(parcels, printers, sum, inline));
    }
    for (int parcel = 0; parcel < 240; parcel++) {
      parcels.put(parcel);
      if (parcel % 20 == 19) {
        Thread.sleep(20);
      }
    }
    for (int i = 0; i < PACKERS; i++) {
      parcels.put(END);
    }
    for (Future<?> shift : shifts) {
      shift.get();
    }
    watch.print(sum.get());
    packers.shutdown();
    printers.shutdown();
  }

  private static Void pack(BlockingQueue<Integer> parcels, ExecutorService printers, AtomicLong sum, boolean inline) throws Exception {
    for (int parcel = parcels.take(); parcel != END; parcel = parcels.take()) {
      if (inline) {
        sum.addAndGet(weigh(parcel));
        sum.addAndGet(label(parcel));
      } else {
        Future<Integer> label = printed(printers, parcel);
        sum.addAndGet(weigh(parcel));
        sum.addAndGet(label.get());
      }
    }
    return null;
  }

  private static Future<Integer> printed(ExecutorService printers, int parcel) {
    return printers.submit(() -> label(parcel));
  }

  private static int label(int parcel) throws InterruptedException {
    Thread.sleep(7 + parcel % 5);
    return parcel % 17;
  }

  private static int weigh(int parcel) {
    int weight = parcel;
    for (int i = 0; i < 600_000; i++) {
      weight = weight * 1_103_515_245 + 12_345;
    }
    return weight & 0xFF;
  }
}
