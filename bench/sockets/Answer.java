import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;

/**
 * Answers requests on a port of the loopback that it prints, by the JDK's own server and eight threads; ends at SIGTERM. At "/mark" it prints what the
 * process has computed so far: "cpu USER_NS SYSTEM_NS".
 */
final class Answer {
  private static final int THREADS = 8;
  private static final int STEPS = 4_000;
  private static final long NS_PER_TICK = 10_000_000; // of Linux' /proc
  private static final int USER_TICKS = 11;
  private static final int SYSTEM_TICKS = 12; // fields behind the command's name

  private Answer() {}

  public static void main(String[] args) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newFixedThreadPool(THREADS));
    server.createContext("/item", Answer::item);
    server.createContext("/mark", Answer::mark);
    server.start();
    System.out.println("serving on " + server.getAddress().getPort());
  }

  private static void item(HttpExchange exchange) throws IOException {
    long random = exchange.hashCode();
    for (int i = 0; i < STEPS; i++) {
      random = random * 6364136223846793005L + 1;
    }
    answer(exchange, Long.toHexString(random));
  }

  private static void mark(HttpExchange exchange) throws IOException {
    String stat = Files.readString(Path.of("/proc/self/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    System.out.println("cpu " + Long.parseLong(fields[USER_TICKS]) * NS_PER_TICK + " "
        + Long.parseLong(fields[SYSTEM_TICKS]) * NS_PER_TICK);
    answer(exchange, "marked");
  }

  private static void answer(HttpExchange exchange, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    exchange.sendResponseHeaders(200, bytes.length);
    try (OutputStream body = exchange.getResponseBody()) {
      body.write(bytes);
    }
  }
}
