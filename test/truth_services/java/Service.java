import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * What the services have in common: their arguments, an {@code HttpServer} before one method, and their end. The arguments are a
 * variant, a port of the loopback (0: one that is free), and after how many seconds the service ends whatever happens.
 */
final class Service {
  /** Answers the request for {@code /item?id=N}. */
  interface Endpoint {
    String answer(int id) throws Exception;
  }

  private static final String QUERY = "id=";
  private static final int SECONDS_MAX = 3600;

  final String variant;
  final int port;
  private final int seconds;

  private Service(String variant, int port, int seconds) {
    this.variant = variant;
    this.port = port;
    this.seconds = seconds;
  }

  static Service of(String[] args, String... variants) {
    if (args.length < 2 || args.length > 3 || !List.of(variants).contains(args[0])) {
      System.err.println("usage: " + String.join("|", variants) + " PORT [SECONDS]");
      System.exit(2);
    }
    int seconds = args.length == 3 ? Integer.parseInt(args[2]) : 600;
    if (seconds < 1 || seconds > SECONDS_MAX) {
      throw new IllegalArgumentException("from 1 to " + SECONDS_MAX + " seconds");
    }
    return new Service(args[0], Integer.parseInt(args[1]), seconds);
  }

  /** Serves until the time is over. Each request is handled by the executor from its first byte to its last. */
  void serve(Executor handlers, Endpoint endpoint) throws IOException, InterruptedException {
    // Headers and body may leave in two writes; without this the second waits for the client's delayed acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 256);
    http.setExecutor(handlers);
    http.createContext("/item", exchange -> {
      int status = 200;
      String text;
      try {
        text = endpoint.answer(id(exchange.getRequestURI().getQuery()));
      } catch (Exception e) {
        status = 500;
        text = e.toString();
      }
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      try (exchange; OutputStream out = exchange.getResponseBody()) {
        exchange.sendResponseHeaders(status, bytes.length);
        out.write(bytes);
      }
    });
    http.start();
    serveUntilTheEnd(http.getAddress().getPort());
  }

  void serveUntilTheEnd(int listeningOn) throws InterruptedException {
    System.out.println("listening on 127.0.0.1:" + listeningOn);
    Thread.sleep(seconds * 1000L);
    System.exit(0);
  }

  static int id(String query) {
    if (query == null || !query.startsWith(QUERY)) {
      throw new IllegalArgumentException("no id");
    }
    return Integer.parseInt(query.substring(QUERY.length()));
  }
}
