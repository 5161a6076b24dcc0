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
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * A shop as many are: Tomcat, HikariCP, and a database (H2) in a process of its own, over TCP. Three connections are too few; beside them,
 * six threads of the connector are too. Changed: ten connections, twenty-four threads, or both.
 */
final class TomcatShop extends HttpServlet {
  private static final long serialVersionUID = 1;
  private static final Logger LOGGER = Logger.getLogger("org.apache");

  private final transient HikariDataSource connections;

  private TomcatShop(String url, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    connections = new HikariDataSource(config);
  }

  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "ten-connections", "more-threads", "both");
    boolean isBoth = service.variant.equals("both");
    LOGGER.setLevel(Level.OFF);
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(Files.createTempDirectory("truth-services-tomcat").toString());
    Connector connector = new Connector();
    connector.setPort(service.port);
    connector.setProperty("address", "127.0.0.1");
    connector.setProperty("maxKeepAliveRequests", "-1");
    connector.setProperty("maxThreads", isBoth || service.variant.equals("more-threads") ? "24" : "6");
    tomcat.setConnector(connector);
    Context context = tomcat.addContext("", null);
    String url = DatabaseProcess.start();
    Tomcat.addServlet(context, "shop", new TomcatShop(url, isBoth || service.variant.equals("ten-connections") ? 10 : 3));
    context.addServletMappingDecoded("/item", "shop");
    tomcat.start();
    service.serveUntilTheEnd(connector.getLocalPort());
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
    int id = Service.id(request.getQueryString());
    String text;
    try {
      text = Page.of("product", id, 800 + id % 7 * 150).summary() + " " + stock(id);
    } catch (SQLException e) {
      response.setStatus(500);
      text = e.toString();
    }
    response.setContentLength(text.length());
    response.getWriter().print(text);
  }

  private String stock(int id) throws SQLException {
    try (Connection connection = connections.getConnection();
        PreparedStatement query = connection.prepareStatement(
            "SELECT COUNT(*), SUM(pieces), DISK() FROM stock WHERE product = ?")) {
      query.setInt(1, id);
      try (ResultSet rows = query.executeQuery()) {
        if (!rows.next()) {
          throw new SQLException("no product " + id);
        }
        return rows.getInt(1) + " " + rows.getLong(2);
      }
    }
  }
}
