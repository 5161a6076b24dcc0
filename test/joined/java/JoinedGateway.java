import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.Executors;

/** A service with as many handlers as it takes, which asks another one for each request: {@code JoinedGateway PORT BACKEND_PORT}. */
public final class JoinedGateway {
  private static final int SECONDS_MAX = 120;

  private JoinedGateway() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    int port = Integer.parseInt(arguments[0]);
    String backend = "http://127.0.0.1:" + Integer.parseInt(arguments[1]) + "/row?";
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 256);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/item", exchange -> {
      byte[] item = ask(backend + exchange.getRequestURI().getQuery());
      try (exchange; OutputStream out = exchange.getResponseBody()) {
        exchange.sendResponseHeaders(200, item.length);
        out.write(item);
      }
    });
    server.start();
    endSoon();
  }

  private static byte[] ask(String url) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
    try (InputStream in = connection.getInputStream()) {
      return in.readAllBytes();
    }
  }

  /** Whatever happens. */
  static void endSoon() throws InterruptedException {
    Thread.sleep(SECONDS_MAX * 1000L);
    System.exit(0);
  }
}
