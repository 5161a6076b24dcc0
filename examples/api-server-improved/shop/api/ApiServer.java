package shop.api;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The shop's HTTP server: handlers, of which each has one request until it is answered, and workers for the tasks of these. */
final class ApiServer implements AutoCloseable {
  static final int HANDLERS = 64;
  static final int WORKERS = 64;

  private final ExecutorService handlers;
  private final ExecutorService workers;
  private final Store store = new Store();
  private final Map<String, Endpoint> endpoints = new LinkedHashMap<>();
  private final HttpServer http;

  ApiServer(int port, int handlerCount, int workerCount) throws IOException, SQLException {
    handlers = Executors.newFixedThreadPool(handlerCount);
    workers = Executors.newFixedThreadPool(workerCount);
    endpoints.put("/profile", new ProfileApi(store));
    endpoints.put("/feed", new FeedApi(workers, store));
    endpoints.put("/search", new SearchApi(workers, store));
    endpoints.put("/checkout", new CheckoutApi(workers, store));
    endpoints.put("/recommendations", new RecommendationsApi(workers, store));

    // Headers and body leave in two writes; without this the second waits for the client's delayed acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    http.setExecutor(handlers);
    endpoints.forEach((path, endpoint) -> http.createContext(path, exchange -> serve(exchange, endpoint)));
    http.start();
  }

  int port() {
    return http.getAddress().getPort();
  }

  Store store() {
    return store;
  }

  private static void serve(HttpExchange exchange, Endpoint endpoint) {
    try {
      String body = endpoint.handle(new Request(exchange.getRequestURI().getQuery()));
      respond(exchange, 200, body);
    } catch (Exception e) {
      respond(exchange, 500, e.toString());
    }
  }

  private static void respond(HttpExchange exchange, int status, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    try (exchange; OutputStream out = exchange.getResponseBody()) {
      exchange.sendResponseHeaders(status, bytes.length);
      out.write(bytes);
    } catch (IOException e) {
      exchange.close();  // the client went away
    }
  }

  @Override
  public void close() {
    http.stop(0);
    handlers.shutdown();
    workers.shutdown();
    store.close();
  }
}
