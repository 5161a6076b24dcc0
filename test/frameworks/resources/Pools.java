import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.apache.tomcat.jdbc.pool.PoolProperties;
import org.h2.jdbcx.JdbcConnectionPool;

/**
 * Workers that each need one of a few connections for a query that takes a while. usage: Pools KIND SIZE. Prints how
 * many connections were asked for, and the time from the first query to the end.
 */
public final class Pools {
  private static final int WORKERS = 8, QUERIES = 64;
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
      connection.close();
    }

    @Override
    void close() throws Exception;
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
        return java.sql.DriverManager.getConnection(URL);
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

  private static void query(Source source) throws Exception {
    Connection connection = source.get();
    try (Statement statement = connection.createStatement()) {
      statement.execute("CALL NAP(" + QUERY_MS + ")");
    } finally {
      source.giveBack(connection);
    }
    Thread.sleep(OWN_MS);
  }

  public static void main(String[] arguments) throws Exception {
    int size = Integer.parseInt(arguments[1]);
    Source source;
    switch (arguments[0]) {
      case "hikari" -> source = hikari(size);
      case "commons" -> source = commons(size);
      case "tomcat" -> source = tomcat(size);
      case "h2" -> source = h2(size);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    int asked = QUERIES;
    ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
    long begin;
    try (source) {
      workers.submit(() -> {
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
        return null;
      }).get();
      asked += 1 + size;
      begin = System.nanoTime();
      List<Future<?>> queries = new ArrayList<>();
      for (int i = 0; i < QUERIES; i++) {
        queries.add(workers.submit(() -> {
          query(source);
          return null;
        }));
      }
      for (Future<?> query : queries) {
        query.get();
      }
      System.out.println(asked + " " + (System.nanoTime() - begin));
    }
    workers.shutdown();
  }
}
