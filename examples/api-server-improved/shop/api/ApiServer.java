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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;

/** The shop's HTTP server: one thread that accepts and parses, twenty workers that do everything else. */
final class ApiServer implements AutoCloseable {
  static final int WORKERS = 20;

  private final ThreadPoolExecutor workers = (ThreadPoolExecutor) Executors.newFixedThreadPool(WORKERS);
  private final Store store = new Store(WORKERS);
  private final Admission admission = new Admission(WORKERS);
  private final Map<String, Integer> workersNeeded = new ConcurrentHashMap<>();
  private final Map<String, Endpoint> endpoints = new LinkedHashMap<>();
  private final HttpServer http;

  ApiServer(int port) throws IOException, SQLException {
    endpoints.put("/profile", new ProfileApi(store));
    endpoints.put("/feed", new FeedApi(workers, store));
    endpoints.put("/search", new SearchApi(workers, store));
    endpoints.put("/checkout", new CheckoutApi(workers, store));
    endpoints.put("/recommendations", new RecommendationsApi(store));

    // Headers and body leave in two writes; without this the second waits for the client's delayed acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    endpoints.forEach((path, endpoint) -> http.createContext(path, exchange -> accept(exchange, path, endpoint)));
    http.start();
  }

  int port() {
    return http.getAddress().getPort();
  }

  Store store() {
    return store;
  }

  int busyWorkers() {
    return workers.getActiveCount();
  }

  /** How many workers to keep free for a request to this path; all of them until told otherwise. */
  void setWorkersNeeded(String path, int count) {
    workersNeeded.put(path, count);
  }

  private void accept(HttpExchange exchange, String path, Endpoint endpoint) {
    int need = workersNeeded.getOrDefault(path, WORKERS);
    admission.enter(need, () -> workers.execute(() -> serve(exchange, endpoint, need)));
  }

  private void serve(HttpExchange exchange, Endpoint endpoint, int need) {
    CompletableFuture<String> answer;
    try {
      answer = endpoint.handle(new Request(exchange.getRequestURI().getQuery()));
    } catch (Exception e) {
      answer = CompletableFuture.failedFuture(e);
    }
    answer.whenComplete((body, failure) -> {
      try {
        respond(exchange, failure == null ? 200 : 500, failure == null ? body : failure.toString());
      } finally {
        admission.leave(need);
      }
    });
  }

  private static void respond(HttpExchange exchange, int status, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    try (exchange; OutputStream out = exchange.getResponseBody()) {
      exchange.sendResponseHeaders(status, bytes.length);
      out.write(bytes);
    } catch (IOException e) {
      System.err.println("a client went away: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    http.stop(0);
    workers.shutdown();
    store.close();
  }
}
