import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.h2.tools.Server;

/** A database in a process of its own, on the last core; each query waits for a disk, too. It ends with the process that started it. */
public final class DatabaseProcess {
  private static final int PRODUCTS = 300;
  private static final int ROWS = 6000;

  private DatabaseProcess() {}

  /** Its URL. */
  static String start() throws IOException {
    int cores = Integer.parseInt(read("nproc", "--all").trim());
    ProcessBuilder builder = new ProcessBuilder(List.of("taskset", "-c", Integer.toString(cores - 1),
        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
        "-cp", System.getProperty("java.class.path"), "DatabaseProcess"));
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    builder.environment().remove("LD_PRELOAD");
    builder.redirectError(Redirect.INHERIT);
    Process process = builder.start();
    return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
  }

  private static String read(String... words) throws IOException {
    return new String(new ProcessBuilder(words).start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** How long a read from the disk takes. */
  public static int disk() throws InterruptedException {
    Thread.sleep(6);
    return 0;
  }

  public static void main(String[] args) throws Exception {
    Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
    String url = "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/mem:shop;DB_CLOSE_DELAY=-1";
    try (Connection connection = DriverManager.getConnection(url); Statement statement = connection.createStatement()) {
      statement.execute("CREATE ALIAS DISK FOR \"DatabaseProcess.disk\"");
      statement.execute("CREATE TABLE stock (id INT PRIMARY KEY, product INT, pieces INT)");
      statement.execute("CREATE INDEX by_product ON stock (product)");
      statement.execute("INSERT INTO stock SELECT x, MOD(x, " + PRODUCTS + "), MOD(x * 37, 99) FROM SYSTEM_RANGE(1, " + ROWS + ")");
    }
    System.out.println(url);
    while (System.in.read() >= 0) {
      continue;
    }
    System.exit(0);
  }
}
