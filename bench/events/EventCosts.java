import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What one operation costs, in nanoseconds: `EventCosts CASE` runs one case, and before it, in the same JVM, an empty
 * loop and the bare clock read. The operations that make events are measured in a recorded and in a plain JVM; the
 * difference, divided by the events of an operation, is the cost of an event. One line for each loop: name, operations
 * done in all, minimum and median over the rounds.
 */
public final class EventCosts {
  // Short bursts with rests between them: what an event costs the thread that makes it, while the drainer keeps up. A
  // program that makes nothing but events outruns any drainer, and then the figure would be that of dropping.
  private static final int ROUNDS = 60;
  private static final long ROUND_NS = 2_000_000;
  private static final long REST_MS = 10;
  private static final long WARM_UP_NS = 800_000_000;

  /** Does `count` operations and returns something that depends on them, so that none can be left out. */
  interface Loop {
    long run(int count) throws Exception;
  }

  private static long sink;

  public static void main(String[] arguments) throws Exception {
    Map<String, Loop> cases = cases();
    if (arguments.length != 1 || !cases.containsKey(arguments[0])) {
      System.err.println("usage: EventCosts " + String.join("|", cases.keySet()));
      System.exit(2);
    }
    measure("empty_loop", EventCosts::emptyLoop);
    measure("clock_read", EventCosts::clockRead);
    if (arguments[0].equals("method")) measure("untraced", EventCosts::untraced);
    measure(arguments[0], cases.get(arguments[0]));
    pool.shutdown();
    forkJoin.shutdown();
    if (sink == 42) System.err.println(sink);
  }

  private static Map<String, Loop> cases() {
    Map<String, Loop> cases = new LinkedHashMap<>();
    cases.put("method", EventCosts::traced);
    cases.put("park", EventCosts::park);
    cases.put("monitor", EventCosts::monitor);
    cases.put("lock", EventCosts::lock);
    cases.put("chosen_monitor", EventCosts::monitor);
    cases.put("chosen_lock", EventCosts::lock);
    cases.put("stage", EventCosts::stage);
    cases.put("fork_join", EventCosts::forkJoin);
    cases.put("pool_batch", EventCosts::poolBatch);
    cases.put("pool_round_trip", EventCosts::poolRoundTrip);
    cases.put("supply_async", EventCosts::supplyAsync);
    cases.put("thread", EventCosts::thread);
    return cases;
  }

  private static void measure(String name, Loop loop) throws Exception {
    long operations = 0;
    int count = 1;
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < WARM_UP_NS) {
      long round = time(loop, count);
      operations += count;
      if (round < ROUND_NS) count *= 2;
      if (round > 2 * ROUND_NS) count = Math.max(1, count / 2);
    }
    double[] nanoseconds = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      nanoseconds[round] = (double) time(loop, count) / count;
      operations += count;
    }
    Arrays.sort(nanoseconds);
    System.out.printf("%s %d %.3f %.3f%n", name, operations, nanoseconds[0], nanoseconds[ROUNDS / 2]);
  }

  private static long time(Loop loop, int count) throws Exception {
    long begin = System.nanoTime();
    sink += loop.run(count);
    long time = System.nanoTime() - begin;
    Thread.sleep(REST_MS);
    return time;
  }

  // The loops' bodies. `mix` keeps the compiler from folding a loop into one step.

  private static long mix(long x) {
    x ^= x << 13;
    x ^= x >>> 7;
    return x ^ x << 17;
  }

  private static long emptyLoop(int count) {
    long x = count;
    for (int i = 0; i < count; i++) x = mix(x);
    return x;
  }

  private static long clockRead(int count) {
    long x = count;
    for (int i = 0; i < count; i++) x = mix(x) + System.nanoTime();
    return x;
  }

  private static long untraced(int count) {
    long x = count;
    for (int i = 0; i < count; i++) x = Untraced.step(x);
    return x;
  }

  private static long traced(int count) {
    long x = count;
    for (int i = 0; i < count; i++) x = Traced.step(x);
    return x;
  }

  /** Twins; the tracing configuration names one. Neither is inlined: the run's options see to that. */
  static final class Untraced {
    static long step(long x) {
      return mix(x);
    }
  }

  static final class Traced {
    static long step(long x) {
      return mix(x);
    }
  }

  /** Nobody else wants its locks. */
  static final class Guarded {
    private final ReentrantLock lock = new ReentrantLock();

    long inMonitor(long x) {
      synchronized (this) {
        return mix(x);
      }
    }

    long inLock(long x) {
      lock.lock();
      try {
        return mix(x);
      } finally {
        lock.unlock();
      }
    }
  }

  private static final Guarded guarded = new Guarded();

  private static long monitor(int count) {
    long x = count;
    for (int i = 0; i < count; i++) x = guarded.inMonitor(x);
    return x;
  }

  private static long lock(int count) {
    long x = count;
    for (int i = 0; i < count; i++) x = guarded.inLock(x);
    return x;
  }

  /** The permit is there already, so that nothing but the calls is measured. */
  private static long park(int count) {
    Thread self = Thread.currentThread();
    for (int i = 0; i < count; i++) {
      LockSupport.unpark(self);
      LockSupport.park(EventCosts.class);
    }
    return count;
  }

  private static long stage(int count) {
    long x = count;
    for (int i = 0; i < count; i++) x += CompletableFuture.completedFuture(x).thenApply(EventCosts::mix).join();
    return x;
  }

  private static final ForkJoinPool forkJoin = new ForkJoinPool(1);

  private static long forkJoin(int count) {
    return forkJoin.invoke(new Sum(0, count));
  }

  /** Forks one task for each of the numbers but one, and joins it, all on the pool's one worker. */
  static final class Sum extends RecursiveTask<Long> {
    private static final long serialVersionUID = 1;
    private final int begin;
    private final int end;

    Sum(int begin, int end) {
      this.begin = begin;
      this.end = end;
    }

    @Override
    protected Long compute() {
      if (end - begin <= 1) return mix(begin);
      int middle = (begin + end) >>> 1;
      Sum right = new Sum(middle, end);
      right.fork();
      long left = new Sum(begin, middle).compute();
      return left + right.join();
    }
  }

  private static final ExecutorService pool = Executors.newFixedThreadPool(1);
  private static final int BATCH = 1000;

  private static long poolBatch(int count) throws Exception {
    long x = count;
    List<Future<Long>> results = new ArrayList<>(BATCH);
    for (int done = 0; done < count; done += BATCH) {
      int batch = Math.min(BATCH, count - done);
      for (int i = 0; i < batch; i++) {
        long number = i;
        results.add(pool.submit(() -> mix(number)));
      }
      for (Future<Long> result : results) x += result.get();
      results.clear();
    }
    return x;
  }

  private static long poolRoundTrip(int count) throws Exception {
    long x = count;
    for (int i = 0; i < count; i++) {
      long number = x;
      x = pool.submit(() -> mix(number)).get();
    }
    return x;
  }

  private static long supplyAsync(int count) {
    long x = count;
    for (int i = 0; i < count; i++) {
      long number = x;
      x = CompletableFuture.supplyAsync(() -> mix(number), pool).join();
    }
    return x;
  }

  private static long thread(int count) throws InterruptedException {
    long[] x = {count};
    for (int i = 0; i < count; i++) {
      Thread thread = new Thread(() -> x[0] = mix(x[0]));
      thread.start();
      thread.join();
    }
    return x[0];
  }
}
