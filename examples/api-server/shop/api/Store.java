package shop.api;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The shop's tables in H2. Every call takes a connection from a pool, and blocks for a round trip to the database machine and for
 * the query itself.
 */
final class Store implements AutoCloseable {
  record User(String name, int age) {}

  record Product(String name, int priceCents) {}

  private static final long ROUND_TRIP_MS = 6;
  private static final int CONNECTIONS = 32;
  private final HikariDataSource connections;

  Store() throws SQLException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
    config.setMaximumPoolSize(CONNECTIONS);
    connections = new HikariDataSource(config);
    fill();
  }

  User user(int id) {
    return query("SELECT name, age FROM users WHERE id = ?", id,
        row -> row.next() ? new User(row.getString(1), row.getInt(2)) : null);
  }

  List<String> friendsPosts(int user) {
    return query("SELECT p.text FROM friends f JOIN posts p ON p.author = f.friend WHERE f.id = ? ORDER BY f.position",
        user, row -> {
          List<String> posts = new ArrayList<>();
          while (row.next()) {
            posts.add(row.getString(1));
          }
          return posts;
        });
  }

  int[] productsWithWord(String word, int limit) {
    return query("SELECT id FROM products WHERE word = ? ORDER BY id LIMIT " + limit, word, Store::integers);
  }

  Product product(int id) {
    return query("SELECT name, price FROM products WHERE id = ?", id,
        row -> row.next() ? new Product(row.getString(1), row.getInt(2)) : null);
  }

  int[] purchases(int user) {
    return query("SELECT product FROM purchases WHERE id = ? ORDER BY position", user, Store::integers);
  }

  boolean reserve(int product, int quantity) {
    try (Connection connection = connections.getConnection();
        PreparedStatement update =
            connection.prepareStatement("UPDATE products SET reserved = reserved + ? WHERE id = ?")) {
      Network.roundTrip(ROUND_TRIP_MS);
      update.setInt(1, quantity);
      update.setInt(2, product);
      return update.executeUpdate() == 1;
    } catch (SQLException e) {
      throw failure(e);
    }
  }

  long reservedTotal() {
    try (Connection connection = connections.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT SUM(reserved) FROM products")) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw failure(e);
    }
  }

  @Override
  public void close() {
    connections.close();
  }

  private interface Reader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private <T> T query(String sql, Object key, Reader<T> reader) {
    try (Connection connection = connections.getConnection();
        PreparedStatement select = connection.prepareStatement(sql)) {
      Network.roundTrip(ROUND_TRIP_MS);
      select.setObject(1, key);
      try (ResultSet row = select.executeQuery()) {
        return reader.read(row);
      }
    } catch (SQLException e) {
      throw failure(e);
    }
  }

  private static IllegalStateException failure(SQLException cause) {
    return new IllegalStateException("the database failed: " + cause.getMessage(), cause);
  }

  private static int[] integers(ResultSet row) throws SQLException {
    List<Integer> values = new ArrayList<>();
    while (row.next()) {
      values.add(row.getInt(1));
    }
    return values.stream().mapToInt(Integer::intValue).toArray();
  }

  private void fill() throws SQLException {
    try (Connection connection = connections.getConnection(); Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE users(id INT PRIMARY KEY, name VARCHAR, age INT)");
      statement.execute("CREATE TABLE posts(author INT PRIMARY KEY, text VARCHAR)");
      statement.execute("CREATE TABLE friends(id INT, position INT, friend INT, PRIMARY KEY(id, position))");
      statement.execute("CREATE TABLE purchases(id INT, position INT, product INT, PRIMARY KEY(id, position))");
      statement.execute(
          "CREATE TABLE products(id INT PRIMARY KEY, name VARCHAR, word VARCHAR, price INT, reserved BIGINT)");
      statement.execute("CREATE INDEX products_by_word ON products(word)");
    }
    insert("INSERT INTO users VALUES(?, ?, ?)", Dataset.USERS, 1, (id, k) -> new Object[] {
        id, Dataset.userName(id), Dataset.age(id)});
    insert("INSERT INTO posts VALUES(?, ?)", Dataset.USERS, 1, (id, k) -> new Object[] {id, Dataset.post(id)});
    insert("INSERT INTO friends VALUES(?, ?, ?)", Dataset.USERS, Dataset.FRIENDS, (id, k) -> new Object[] {
        id, k, Dataset.friend(id, k)});
    insert("INSERT INTO purchases VALUES(?, ?, ?)", Dataset.USERS, 2, (id, k) -> new Object[] {
        id, k, Dataset.purchase(id, k)});
    insert("INSERT INTO products VALUES(?, ?, ?, ?, 0)", Dataset.PRODUCTS, 1, (id, k) -> new Object[] {
        id, Dataset.productName(id), Dataset.word(id), Dataset.priceCents(id)});
  }

  private interface RowMaker {
    Object[] row(int id, int position);
  }

  private void insert(String sql, int ids, int rowsPerId, RowMaker maker) throws SQLException {
    try (Connection connection = connections.getConnection();
        PreparedStatement insert = connection.prepareStatement(sql)) {
      for (int id = 0; id < ids; id++) {
        for (int position = 0; position < rowsPerId; position++) {
          Object[] row = maker.row(id, position);
          for (int column = 0; column < row.length; column++) {
            insert.setObject(column + 1, row[column]);
          }
          insert.addBatch();
        }
      }
      insert.executeBatch();
    }
  }
}
