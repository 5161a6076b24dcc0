package traced;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;

/** Two callers of the JDK's HttpClient, which makes stages of its own for each request, and of one that makes a stage here. */
public final class JdkStages {
  public static void main(String[] arguments) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    server.start();
    HttpRequest request = HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/")).build();
    HttpClient client = HttpClient.newHttpClient();
    int sum = one(client, request) + other(client, request) + one(client, request);
    server.stop(0);
    System.out.println("sum " + sum);
  }

  private static int one(HttpClient client, HttpRequest request) throws Exception {
    return client.send(request, BodyHandlers.discarding()).statusCode() + stage();
  }

  private static int other(HttpClient client, HttpRequest request) throws Exception {
    return client.send(request, BodyHandlers.discarding()).statusCode() + stage();
  }

  private static int stage() {
    return CompletableFuture.completedFuture(1).thenApply(x -> x + 1).join();
  }
}
