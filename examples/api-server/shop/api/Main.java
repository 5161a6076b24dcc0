package shop.api;

import java.net.BindException;

/** Starts the server, and either runs the bundled load against it or serves whoever asks. */
public final class Main {
  private static final String USAGE = "usage: api-server [--requests N] [--concurrency N] [--port N] [--serve] "
      + "[--seconds N] [--handlers N] [--workers N]";

  private int requests = 400;
  private int concurrency = 4;
  private int port = 0;
  private int seconds = 600;
  private int handlers = ApiServer.HANDLERS;
  private int workers = ApiServer.WORKERS;
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
          case "--handlers" -> handlers = Integer.parseInt(arguments[++i]);
          case "--workers" -> workers = Integer.parseInt(arguments[++i]);
          case "--serve" -> serve = true;
          default -> {
            return false;
          }
        }
      }
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return false;
    }
    return requests > 0 && concurrency > 0 && port >= 0 && seconds > 0 && handlers > 0 && workers > 0;
  }

  private int run() throws Exception {
    try (ApiServer server = new ApiServer(port, handlers, workers)) {
      if (serve) {
        System.err.println("serving on 127.0.0.1:" + server.port() + " for " + seconds + " s");
        Thread.sleep(seconds * 1000L);
        return 0;
      }
      LoadGenerator load = new LoadGenerator(server.port());
      load.run(requests, concurrency);
      boolean stockRight = server.store().reservedTotal() == load.reserved();
      report(load, stockRight);
      return load.wrong() == 0 && stockRight ? 0 : 1;
    }
  }

  private void report(LoadGenerator load, boolean stockRight) {
    System.out.println("requests " + requests + " wrong " + load.wrong() + " stock " + (stockRight ? "right" : "wrong")
        + " checksum " + load.checksum());
    System.err.printf("wall %.3f s, %.1f requests/s, latency ms p50 %.1f p90 %.1f p99 %.1f max %.1f%n",
        load.wallSeconds(), requests / load.wallSeconds(), load.latencyMs(0.5), load.latencyMs(0.9),
        load.latencyMs(0.99), load.latencyMs(1));
  }
}
