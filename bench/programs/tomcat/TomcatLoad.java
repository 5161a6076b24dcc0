import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.CRC32;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;

/**
 * Tomcat with its default connector on a loopback port, and a closed load: CLIENTS threads ask for pages with the JDK's
 * HttpClient until REQUESTS answers were checked. Half of the pages are rendered on Tomcat's own worker, half are
 * handed on with startAsync. Standard output is the sum of the pages' checksums, which no order of the requests
 * changes.
 */
public final class TomcatLoad {
  private static final int CLIENTS = 8;

  public static void main(String[] arguments) throws Exception {
    int requests = Integer.parseInt(arguments[0]);
    Logger.getLogger("").setLevel(Level.WARNING);
    Path base = Files.createTempDirectory("bench-tomcat");
    Tomcat tomcat = start(base);
    try (Clients clients = new Clients(tomcat.getConnector().getLocalPort())) {
      clients.ask(requests / 10);
      long begin = System.nanoTime();
      long checksum = clients.ask(requests);
      System.err.println("work_ns=" + (System.nanoTime() - begin));
      System.out.println("requests " + requests + " checksum " + Long.toHexString(checksum));
    }
    tomcat.stop();
    tomcat.destroy();
    deleteAll(base);
  }

  private static Tomcat start(Path base) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(base.toString());
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
    tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
    Context context = tomcat.addContext("", base.toString());
    Wrapper pages = Tomcat.addServlet(context, "pages", new Pages());
    pages.setAsyncSupported(true);
    context.addServletMappingDecoded("/page", "pages");
    tomcat.start();
    return tomcat;
  }

  private static void deleteAll(Path root) throws IOException {
    try (var files = Files.walk(root)) {
      files.sorted((a, b) -> b.compareTo(a)).forEach(file -> file.toFile().delete());
    }
  }

  /** A page of rows whose text follows from its number. */
  static final class Pages extends HttpServlet {
    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
      int number = Integer.parseInt(request.getParameter("number"));
      if (number % 2 == 0) {
        render(number, response);
        return;
      }
      AsyncContext async = request.startAsync();
      async.start(() -> {
        try {
          render(number, (HttpServletResponse) async.getResponse());
        } catch (IOException e) {
          throw new java.io.UncheckedIOException(e);
        } finally {
          async.complete();
        }
      });
    }

    private static void render(int number, HttpServletResponse response) throws IOException {
      StringBuilder page = new StringBuilder("<html><body><table>\n");
      long state = number;
      for (int row = 0; row < 200; row++) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        String cell = Long.toString(state >>> 20, 36);
        page.append("<tr><td>").append(row).append("</td><td>").append(cell).append("</td></tr>\n");
      }
      byte[] body = page.append("</table></body></html>\n").toString().getBytes(StandardCharsets.UTF_8);
      response.setContentType("text/html;charset=utf-8");
      response.setContentLength(body.length);
      response.getOutputStream().write(body);
    }
  }

  static final class Clients implements AutoCloseable {
    private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final int port;

    Clients(int port) {
      this.port = port;
    }

    long ask(int requests) throws Exception {
      List<Future<Long>> sums = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        int first = client;
        sums.add(threads.submit(() -> {
          long sum = 0;
          for (int number = first; number < requests; number += CLIENTS) sum += checksum(number);
          return sum;
        }));
      }
      long total = 0;
      for (Future<Long> sum : sums) total += sum.get();
      return total;
    }

    private long checksum(int number) throws Exception {
      URI page = URI.create("http://127.0.0.1:" + port + "/page?number=" + number);
      var response = http.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofByteArray());
      if (response.statusCode() != 200) throw new IllegalStateException("status " + response.statusCode());
      CRC32 crc = new CRC32();
      crc.update(response.body());
      return crc.getValue();
    }

    @Override
    public void close() {
      threads.shutdown();
    }
  }
}
