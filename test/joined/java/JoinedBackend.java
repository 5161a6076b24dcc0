import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/**
 * A service behind another one: {@code JoinedBackend PORT WORKERS}. Each of its workers waits for another machine for 10 ms, and answers:
 * it serves 100 requests a second for each worker.
 */
public final class JoinedBackend {
  private static final int REMOTE_CALL_MS = 10;

  private JoinedBackend() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    // Headers and body may leave in two writes; without this the second waits for the client's delayed acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    int port = Integer.parseInt(arguments[0]);
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 256);
    server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(arguments[1])));
    server.createContext("/row", exchange -> {
      remoteCall();
      byte[] row = ("row " + exchange.getRequestURI().getQuery()).getBytes(StandardCharsets.UTF_8);
      try (exchange; OutputStream out = exchange.getResponseBody()) {
        exchange.sendResponseHeaders(200, row.length);
        out.write(row);
      }
    });
    server.start();
    JoinedGateway.endSoon();
  }

  private static void remoteCall() {
    try {
      Thread.sleep(REMOTE_CALL_MS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
