import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * HSQLDB in memory with multi-version transactions, under the classic bank load: each transaction changes one account,
 * its teller and its branch, reads the balance and writes one line of history. Client threads have a connection each; a
 * transaction that loses to another is tried again. Standard output is the sums of all tables, which depend on what was
 * transacted and not on the order.
 */
public final class BankLoad {
  private static final String URL = "jdbc:hsqldb:mem:bank;hsqldb.tx=mvcc";
  private static final int CLIENTS = 6;
  private static final int BRANCHES = 16;
  private static final int TELLERS = 10 * BRANCHES;
  private static final int ACCOUNTS = 1000 * BRANCHES;

  public static void main(String[] arguments) throws Exception {
    int transactions = Integer.parseInt(arguments[0]);
    try (Connection keeper = DriverManager.getConnection(URL, "sa", "")) {
      create(keeper);
      run(transactions / 10, 1);
      long begin = System.nanoTime();
      run(transactions, 2);
      System.err.println("work_ns=" + (System.nanoTime() - begin));
      for (String table : List.of("branch", "teller", "account")) print(keeper, "sum(balance)", table);
      print(keeper, "sum(delta)", "history");
      print(keeper, "count(*)", "history");
    }
  }

  private static void create(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String table : List.of("branch", "teller", "account")) {
        statement.execute("create table " + table + " (id int primary key, balance bigint not null)");
      }
      statement.execute("create table history (teller int, branch int, account int, delta bigint)");
    }
    fill(connection, "branch", BRANCHES);
    fill(connection, "teller", TELLERS);
    fill(connection, "account", ACCOUNTS);
  }

  private static void fill(Connection connection, String table, int rows) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("insert into " + table + " values (?, 0)")) {
      for (int id = 0; id < rows; id++) {
        insert.setInt(1, id);
        insert.executeUpdate();
      }
    }
  }

  private static void run(int transactions, int seed) throws InterruptedException {
    List<Thread> clients = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      Random random = new Random(seed * 1000L + client);
      Thread thread = new Thread(() -> {
        try (Client bank = new Client()) {
          for (int i = 0; i < transactions / CLIENTS; i++) bank.transact(random);
        } catch (SQLException e) {
          synchronized (failures) {
            failures.add(e);
          }
        }
      }, "client-" + client);
      clients.add(thread);
      thread.start();
    }
    for (Thread client : clients) client.join();
    if (!failures.isEmpty()) throw new IllegalStateException(failures.get(0));
  }

  private static void print(Connection connection, String what, String table) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("select " + what + " from " + table)) {
      row.next();
      System.out.println(table + " " + what + " " + row.getLong(1));
    }
  }

  static final class Client implements AutoCloseable {
    private final Connection connection = DriverManager.getConnection(URL, "sa", "");
    private final PreparedStatement account;
    private final PreparedStatement read;
    private final PreparedStatement teller;
    private final PreparedStatement branch;
    private final PreparedStatement history;

    Client() throws SQLException {
      connection.setAutoCommit(false);
      account = connection.prepareStatement("update account set balance = balance + ? where id = ?");
      read = connection.prepareStatement("select balance from account where id = ?");
      teller = connection.prepareStatement("update teller set balance = balance + ? where id = ?");
      branch = connection.prepareStatement("update branch set balance = balance + ? where id = ?");
      history = connection.prepareStatement("insert into history values (?, ?, ?, ?)");
    }

    void transact(Random random) throws SQLException {
      int accountId = random.nextInt(ACCOUNTS);
      int tellerId = random.nextInt(TELLERS);
      int branchId = tellerId / 10;
      long delta = random.nextInt(1_999_999) - 999_999;
      while (true) {
        try {
          update(account, delta, accountId);
          read.setInt(1, accountId);
          try (ResultSet balance = read.executeQuery()) {
            balance.next();
          }
          update(teller, delta, tellerId);
          update(branch, delta, branchId);
          history.setInt(1, tellerId);
          history.setInt(2, branchId);
          history.setInt(3, accountId);
          history.setLong(4, delta);
          history.executeUpdate();
          connection.commit();
          return;
        } catch (SQLTransactionRollbackException lost) {
          connection.rollback();
        }
      }
    }

    private static void update(PreparedStatement statement, long delta, int id) throws SQLException {
      statement.setLong(1, delta);
      statement.setInt(2, id);
      statement.executeUpdate();
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }
}
