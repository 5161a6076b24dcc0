import com.alibaba.druid.pool.DruidDataSource;
import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.mongodb.internal.connection.ConcurrentPool;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.apache.commons.dbcp.BasicDataSource;
import org.apache.commons.pool2.BaseKeyedPooledObjectFactory;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericKeyedObjectPool;
import org.apache.commons.pool2.impl.GenericKeyedObjectPoolConfig;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.impl.conn.PoolingHttpClientConnectionManager;
import org.apache.http.util.EntityUtils;
import org.apache.tomcat.jdbc.pool.PoolProperties;
import org.h2.jdbcx.JdbcConnectionPool;
import org.vibur.objectpool.PoolObjectFactory;
import org.vibur.objectpool.util.ConcurrentLinkedQueueCollection;

/**
 * Workers that each need one of a few connections for a query that takes a while, or for a request to a server. usage: Pools KIND SIZE. Prints how
 * many connections were asked for, and the time from the first query to the end.
 */
public final class Pools {
  private static final int WORKERS = 8, QUERIES = 64, WARMING = 16;
  private static final int QUERY_MS = 15, OWN_MS = 3;
  private static final String URL = "jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1";

  private Pools() {}

  /** A pool of the kind. */
  private interface Source extends AutoCloseable {
    Connection get() throws Exception;

    default void giveBack(Connection connection) throws Exception {
      connection.close();
    }

    /** It is broken. */
    default void discard(Connection connection) throws Exception {
      giveBack(connection);
    }

    @Override
    void close() throws Exception;
  }

  private static Connection connect() throws SQLException {
    return java.sql.DriverManager.getConnection(URL);
  }

  private static Source hikari(int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(URL);
    config.setPoolName("orders");
    config.setMaximumPoolSize(size);
    HikariDataSource source = new HikariDataSource(config);
    return new Source() {
      @Override
      public Connection get() throws Exception {
        return source.getConnection();
      }

      @Override
      public void discard(Connection connection) throws Exception {
        source.evictConnection(connection);
        connection.close();
      }

      @Override
      public void close() {
        source.close();
      }
    };
  }

  private static Source commons(int size) {
    GenericObjectPoolConfig<Connection> config = new GenericObjectPoolConfig<>();
    config.setMaxTotal(size);
    config.setMaxIdle(size);
    GenericObjectPool<Connection> pool = new GenericObjectPool<>(new BasePooledObjectFactory<>() {
      @Override
      public Connection create() throws Exception {
        return connect();
      }

      @Override
      public PooledObject<Connection> wrap(Connection connection) {
        return new DefaultPooledObject<>(connection);
      }
    }, config);
    return new Source() {
      private int asked;

      @Override
      public Connection get() throws Exception {
        switch (asked++ % 3) {  // in each of its ways
          case 0:
            return pool.borrowObject();
          case 1:
            return pool.borrowObject(60_000);
          default:
            return pool.borrowObject(Duration.ofMinutes(1));
        }
      }

      @Override
      public void giveBack(Connection connection) {
        pool.returnObject(connection);
      }

      @Override
      public void discard(Connection connection) throws Exception {
        pool.invalidateObject(connection);
      }

      @Override
      public void close() {
        pool.close();
      }
    };
  }

  private static Source tomcat(int size) {
    PoolProperties properties = new PoolProperties();
    properties.setUrl(URL);
    properties.setDriverClassName("org.h2.Driver");
    properties.setMaxActive(size);
    properties.setInitialSize(size);
    org.apache.tomcat.jdbc.pool.DataSource source = new org.apache.tomcat.jdbc.pool.DataSource(properties);
    return new Source() {
      @Override
      public Connection get() throws Exception {
        return source.getConnection();
      }

      @Override
      public void close() {
        source.close();
      }
    };
  }

  private static Source h2(int size) {
    JdbcConnectionPool pool = JdbcConnectionPool.create(URL, "", "");
    pool.setMaxConnections(size);
    return new Source() {
      @Override
      public Connection get() throws Exception {
        return pool.getConnection();
      }

      @Override
      public void close() {
        pool.dispose();
      }
    };
  }

  private static Source of(DataSource source) {
    return new Source() {
      @Override
      public Connection get() throws Exception {
        return source.getConnection();
      }

      @Override
      public void close() throws Exception {
        if (source instanceof AutoCloseable) {
          ((AutoCloseable) source).close();
        }
      }
    };
  }

  private static Source c3p0(int size) {
    ComboPooledDataSource source = new ComboPooledDataSource();
    source.setJdbcUrl(URL);
    source.setInitialPoolSize(size);
    source.setMinPoolSize(size);
    source.setMaxPoolSize(size);
    return of(source);
  }

  private static Source druid(int size) {
    DruidDataSource source = new DruidDataSource();
    source.setUrl(URL);
    source.setMaxActive(size);
    source.setTestWhileIdle(false);
    return of(source);
  }

  private static Source agroal(int size) throws SQLException {
    return of(AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier().connectionPoolConfiguration(pool -> pool
        .maxSize(size).acquisitionTimeout(Duration.ofMinutes(1))
        .connectionFactoryConfiguration(factory -> factory.jdbcUrl(URL)))));
  }

  private static Source dbcp1(int size) {
    BasicDataSource source = new BasicDataSource();
    source.setUrl(URL);
    source.setMaxActive(size);
    source.setMaxIdle(size);
    return of(source);
  }

  private static Source keyed(int size) {
    GenericKeyedObjectPoolConfig<Connection> config = new GenericKeyedObjectPoolConfig<>();
    config.setMaxTotalPerKey(size);
    config.setMaxIdlePerKey(size);
    config.setMaxTotal(16 * size);
    GenericKeyedObjectPool<String, Connection> pool = new GenericKeyedObjectPool<>(new BaseKeyedPooledObjectFactory<>() {
      @Override
      public Connection create(String key) throws Exception {
        return connect();
      }

      @Override
      public PooledObject<Connection> wrap(Connection connection) {
        return new DefaultPooledObject<>(connection);
      }
    }, config);
    return new Source() {
      private int asked;

      @Override
      public Connection get() throws Exception {
        return asked++ % 2 == 0 ? pool.borrowObject("orders") : pool.borrowObject("orders", 60_000);
      }

      @Override
      public void giveBack(Connection connection) {
        pool.returnObject("orders", connection);
      }

      @Override
      public void discard(Connection connection) throws Exception {
        pool.invalidateObject("orders", connection);
      }

      @Override
      public void close() {
        pool.close();
      }
    };
  }

  private static Source mongo(int size) {
    ConcurrentPool<Connection> pool = new ConcurrentPool<>(size, new ConcurrentPool.ItemFactory<>() {
      @Override
      public Connection create() {
        try {
          return connect();
        } catch (SQLException e) {
          throw new IllegalStateException(e);
        }
      }

      @Override
      public void close(Connection connection) {}

      @Override
      public boolean shouldPrune(Connection connection) {
        return false;
      }
    });
    return new Source() {
      private int asked;

      @Override
      public Connection get() {
        return asked++ % 2 == 0 ? pool.get() : pool.get(1, TimeUnit.MINUTES);
      }

      @Override
      public void giveBack(Connection connection) {
        pool.release(connection);
      }

      @Override
      public void discard(Connection connection) {
        pool.release(connection, true);
      }

      @Override
      public void close() {
        pool.close();
      }
    };
  }

  private static Source vibur(int size) {
    org.vibur.objectpool.ConcurrentPool<Connection> pool = new org.vibur.objectpool.ConcurrentPool<>(
        new ConcurrentLinkedQueueCollection<>(), new PoolObjectFactory<>() {
          @Override
          public Connection create() {
            try {
              return connect();
            } catch (SQLException e) {
              throw new IllegalStateException(e);
            }
          }

          @Override
          public boolean readyToTake(Connection connection) {
            return true;
          }

          @Override
          public boolean readyToRestore(Connection connection) {
            return true;
          }

          @Override
          public void destroy(Connection connection) {}
        }, size, size, false);
    return new Source() {
      @Override
      public Connection get() {
        return pool.take();
      }

      @Override
      public void giveBack(Connection connection) {
        pool.restore(connection);
      }

      @Override
      public void close() {}  // would give its semaphore thousands of permits
    };
  }

  /** A client of the server that `url` names, which naps before it answers. */
  private interface Client extends AutoCloseable {
    void ask(String url) throws Exception;

    @Override
    void close() throws Exception;
  }

  private static Client http4(int size) {
    PoolingHttpClientConnectionManager manager = new PoolingHttpClientConnectionManager();
    manager.setDefaultMaxPerRoute(size);
    CloseableHttpClient client = HttpClients.custom().setConnectionManager(manager).build();
    return new Client() {
      @Override
      public void ask(String url) throws Exception {
        try (CloseableHttpResponse response = client.execute(new HttpGet(url))) {
          EntityUtils.consume(response.getEntity());
        }
      }

      @Override
      public void close() throws Exception {
        client.close();
      }
    };
  }

  private static Client http5(int size) {
    org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager manager =
        new org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager();
    manager.setDefaultMaxPerRoute(size);
    org.apache.hc.client5.http.impl.classic.CloseableHttpClient client =
        org.apache.hc.client5.http.impl.classic.HttpClients.custom().setConnectionManager(manager).build();
    return new Client() {
      @Override
      public void ask(String url) throws Exception {
        client.execute(new org.apache.hc.client5.http.classic.methods.HttpGet(url), response -> {
          org.apache.hc.core5.http.io.entity.EntityUtils.consume(response.getEntity());
          return null;
        });
      }

      @Override
      public void close() throws Exception {
        client.close();
      }
    };
  }

  private static Task client(Client client) {
    String url = System.getProperty("url");
    return new Task() {
      @Override
      public int prepare() throws Exception {
        for (int i = 0; i < WARMING; i++) {
          client.ask(url);
        }
        return WARMING;
      }

      @Override
      public void query() throws Exception {
        client.ask(url);
        Thread.sleep(OWN_MS);
      }

      @Override
      public void close() throws Exception {
        client.close();
      }
    };
  }

  /** What the workers do. */
  private interface Task extends AutoCloseable {
    /** How many connections it asked for. */
    int prepare() throws Exception;

    void query() throws Exception;

    @Override
    void close() throws Exception;
  }

  private static Task queries(Source source, int size) {
    return new Task() {
      @Override
      public int prepare() throws Exception {
        Connection first = source.get();
        try (Statement statement = first.createStatement()) {
          statement.execute("CREATE ALIAS NAP FOR 'java.lang.Thread.sleep(long)'");
        }
        source.discard(first);
        List<Connection> all = new ArrayList<>();
        for (int i = 0; i < size; i++) {
          all.add(source.get());
        }
        for (Connection connection : all) {
          source.giveBack(connection);
        }
        return 1 + size;
      }

      @Override
      public void query() throws Exception {
        Pools.query(source);
      }

      @Override
      public void close() throws Exception {
        source.close();
      }
    };
  }

  private static void query(Source source) throws Exception {
    Connection connection = source.get();
    try (Statement statement = connection.createStatement()) {
      statement.execute("CALL NAP(" + QUERY_MS + ")");
    } finally {
      source.giveBack(connection);
    }
    Thread.sleep(OWN_MS);
  }

  private static Task task(String kind, int size) throws Exception {
    connect().close();  // whoever makes connections for a pool is not to load the driver first, while others wait
    return switch (kind) {
      case "hikari" -> queries(hikari(size), size);
      case "commons" -> queries(commons(size), size);
      case "tomcat" -> queries(tomcat(size), size);
      case "h2" -> queries(h2(size), size);
      case "c3p0" -> queries(c3p0(size), size);
      case "druid" -> queries(druid(size), size);
      case "agroal" -> queries(agroal(size), size);
      case "dbcp1" -> queries(dbcp1(size), size);
      case "keyed" -> queries(keyed(size), size);
      case "mongo" -> queries(mongo(size), size);
      case "vibur" -> queries(vibur(size), size);
      case "http4" -> client(http4(size));
      case "http5" -> client(http5(size));
      default -> throw new IllegalArgumentException(kind);
    };
  }

  public static void main(String[] arguments) throws Exception {
    ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
    try (Task task = task(arguments[0], Integer.parseInt(arguments[1]))) {
      int asked = workers.submit(task::prepare).get();
      long begin = System.nanoTime();
      List<Future<?>> queries = new ArrayList<>();
      for (int i = 0; i < QUERIES; i++) {
        queries.add(workers.submit(() -> {
          task.query();
          return null;
        }));
      }
      for (Future<?> query : queries) {
        query.get();
      }
      System.out.println(asked + QUERIES + " " + (System.nanoTime() - begin));
    }
    workers.shutdown();
  }
}
