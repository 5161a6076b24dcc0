package shop.api;

import java.net.BindException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** Starts the server, finds out how many workers each kind of request needs, and runs the bundled load against it. */
public final class Main {
  private static final String USAGE = "usage: api-server [--requests N] [--concurrency N] [--port N] [--serve] "
      + "[--seconds N]";
  private static final String[] PATHS = {"/profile", "/feed", "/search", "/checkout", "/recommendations"};
  private static final int PROBES = 9;

  private int requests = 400;
  private int concurrency = 4;
  private int port = 0;
  private int seconds = 600;
  private boolean serve = false;

  public static void main(String[] arguments) throws Exception {
    Main main = new Main();
    if (!main.parse(arguments)) {
      System.err.println(USAGE);
      System.exit(2);
    }
    try {
      System.exit(main.run());
    } catch (BindException e) {
      System.err.println("api-server: cannot listen on 127.0.0.1:" + main.port + ": " + e.getMessage());
      System.exit(1);
    }
  }

  private boolean parse(String[] arguments) {
    try {
      for (int i = 0; i < arguments.length; i++) {
        switch (arguments[i]) {
          case "--requests" -> requests = Integer.parseInt(arguments[++i]);
          case "--concurrency" -> concurrency = Integer.parseInt(arguments[++i]);
          case "--port" -> port = Integer.parseInt(arguments[++i]);
          case "--seconds" -> seconds = Integer.parseInt(arguments[++i]);
          case "--serve" -> serve = true;
          default -> {
            return false;
          }
        }
      }
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return false;
    }
    return requests > 0 && concurrency > 0 && port >= 0 && seconds > 0;
  }

  private int run() throws Exception {
    try (ApiServer server = new ApiServer(port)) {
      LoadGenerator load = new LoadGenerator(server.port());
      for (String path : PATHS) {
        int needed = measureWorkersNeeded(server, load, path);
        server.setWorkersNeeded(path, needed);
        System.err.println(path + " holds up to " + needed + " of " + ApiServer.WORKERS + " workers");
      }
      if (serve) {
        System.err.println("serving on 127.0.0.1:" + server.port() + " for " + seconds + " s");
        Thread.sleep(seconds * 1000L);
        return 0;
      }
      load.run(requests, concurrency);
      boolean stockRight = server.store().reservedTotal() == load.reserved();
      report(load, stockRight);
      return load.wrong() == 0 && stockRight ? 0 : 1;
    }
  }

  /**
   * The most workers seen busy at once while one request is served alone with cold caches; the median of nine such
   * figures, as a look may miss a worker, or catch one that is just about to end.
   */
  private static int measureWorkersNeeded(ApiServer server, LoadGenerator load, String path) throws Exception {
    int[] peaks = new int[PROBES];
    for (int k = 0; k < PROBES; k++) {
      AtomicBoolean done = new AtomicBoolean();
      int[] peak = {0};
      Thread watcher = new Thread(() -> {
        while (!done.get()) {
          peak[0] = Math.max(peak[0], server.busyWorkers());
          LockSupport.parkNanos(500_000);
        }
      }, "watcher");
      watcher.start();
      load.probe(path, k);
      done.set(true);
      watcher.join();
      peaks[k] = peak[0];
    }
    Arrays.sort(peaks);
    return Math.max(1, peaks[PROBES / 2]);
  }

  private void report(LoadGenerator load, boolean stockRight) {
    System.out.println("requests " + requests + " wrong " + load.wrong() + " stock " + (stockRight ? "right" : "wrong")
        + " checksum " + load.checksum());
    System.err.printf("wall %.3f s, %.1f requests/s, latency ms p50 %.1f p90 %.1f p99 %.1f max %.1f%n",
        load.wallSeconds(), requests / load.wallSeconds(), load.latencyMs(0.5), load.latencyMs(0.9),
        load.latencyMs(0.99), load.latencyMs(1));
  }
}
