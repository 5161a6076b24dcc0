import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * Orders from a database, in Tomcat: a request takes one of four connections, and has it still while it asks another service and
 * renders. Changed: it gives the connection back before that; or there are ten connections or 16.
 */
final class HikariH2 extends HttpServlet {
  private static final long serialVersionUID = 1;
  private static final Logger LOGGER = Logger.getLogger("org.apache");
  private static final int ORDERS = 2000;
  private static final int LINES = 20;

  private record Order(String customer, int lines, long cents) {}

  private final transient HikariDataSource connections;
  private final boolean givesBack;

  private HikariH2(String variant) throws SQLException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1");
    config.setMaximumPoolSize(variant.equals("ten-connections") ? 10 : variant.equals("sixteen-connections") ? 16 : 4);
    connections = new HikariDataSource(config);
    givesBack = variant.equals("give-back");
    fill();
  }

  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "give-back", "ten-connections", "sixteen-connections");
    LOGGER.setLevel(Level.OFF);
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(Files.createTempDirectory("truth-services-tomcat").toString());
    Connector connector = new Connector();
    connector.setPort(service.port);
    connector.setProperty("address", "127.0.0.1");
    connector.setProperty("maxKeepAliveRequests", "-1");
    tomcat.setConnector(connector);
    Context context = tomcat.addContext("", null);
    Tomcat.addServlet(context, "orders", new HikariH2(service.variant));
    context.addServletMappingDecoded("/item", "orders");
    tomcat.start();
    service.serveUntilTheEnd(connector.getLocalPort());
  }

  private void fill() throws SQLException {
    try (Connection connection = connections.getConnection(); Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE lines (id INT PRIMARY KEY, order_id INT, customer VARCHAR, cents BIGINT)");
      statement.execute("CREATE INDEX by_order ON lines (order_id)");
      statement.execute("INSERT INTO lines SELECT x, MOD(x, " + ORDERS + "), 'customer ' || MOD(x, " + ORDERS + "), MOD(x * 37, 9900)"
          + " FROM SYSTEM_RANGE(1, " + ORDERS * LINES + ")");
    }
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
    int id = Service.id(request.getQueryString());
    String text;
    try {
      text = givesBack ? withoutConnection(id) : withConnection(id);
    } catch (SQLException | InterruptedException e) {
      response.setStatus(500);
      text = e.toString();
    }
    response.setContentLength(text.length());
    response.getWriter().print(text);
  }

  private String withConnection(int id) throws SQLException, InterruptedException {
    try (Connection connection = connections.getConnection()) {
      Order order = load(connection, id);
      return render(id, order);
    }
  }

  private String withoutConnection(int id) throws SQLException, InterruptedException {
    Order order;
    try (Connection connection = connections.getConnection()) {
      order = load(connection, id);
    }
    return render(id, order);
  }

  /** The database lies in this process; a network would lie between, which takes 4 ms. */
  private static Order load(Connection connection, int id) throws SQLException, InterruptedException {
    Thread.sleep(4);
    try (PreparedStatement query = connection.prepareStatement("SELECT customer, COUNT(*), SUM(cents) FROM lines WHERE order_id = ? GROUP BY customer")) {
      query.setInt(1, id);
      try (ResultSet rows = query.executeQuery()) {
        if (!rows.next()) {
          throw new SQLException("no order " + id);
        }
        return new Order(rows.getString(1), rows.getInt(2), rows.getLong(3));
      }
    }
  }

  private static String render(int id, Order order) throws InterruptedException {
    String shipping = Remote.ask("shipping", id, 9);
    return Page.of(order.customer(), id, 1000 + id % 7 * 200).summary() + " " + order.lines() + " " + order.cents() + " " + shipping;
  }
}
