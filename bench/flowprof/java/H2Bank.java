import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/**
 * H2 in memory under a load of transactions, each of one connection's own accounts: an update, a look, a line of history. Which release
 * it is, the class path says: the earlier one has one lock for the database, the later one for its sessions and tables (the paper's fix).
 */
final class H2Bank {
  private static final String URL = "jdbc:h2:mem:bank;LOCK_TIMEOUT=60000";
  private static final int ACCOUNTS = 500;

  private static long work(int number, int count) throws SQLException {
    Random random = new Random(number);
    long sum = 0;
    try (Connection connection = DriverManager.getConnection(URL, "sa", "")) {
      connection.setAutoCommit(false);
      PreparedStatement update = connection.prepareStatement("update account set balance = balance + ? where id = ?");
      PreparedStatement read = connection.prepareStatement("select balance from account where id = ?");
      PreparedStatement note = connection.prepareStatement("insert into history (account, delta) values (?, ?)");
      for (int i = 0; i < count; i++) {
        int account = number * ACCOUNTS + random.nextInt(ACCOUNTS);
        int delta = random.nextInt(2000) - 1000;
        update.setInt(1, delta);
        update.setInt(2, account);
        update.executeUpdate();
        read.setInt(1, account);
        try (ResultSet row = read.executeQuery()) {
          row.next();
          sum += row.getLong(1);
        }
        note.setInt(1, account);
        note.setInt(2, delta);
        note.executeUpdate();
        connection.commit();
      }
    }
    return sum;
  }

  private static void create(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("create table account (id int primary key, balance bigint not null)");
      statement.execute("create table history (account int, delta int)");
    }
    try (PreparedStatement insert = connection.prepareStatement("insert into account values (?, 0)")) {
      for (int id = 0; id < Crew.THREADS * ACCOUNTS; id++) {
        insert.setInt(1, id);
        insert.executeUpdate();
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    Crew.isTwin(arguments);
    int count = Crew.count(arguments) / Crew.THREADS;
    try (Connection keeper = DriverManager.getConnection(URL, "sa", "")) {
      create(keeper);
      long read = Crew.run(number -> work(number, count));
      try (Statement statement = keeper.createStatement();
          ResultSet row = statement.executeQuery("select count(*), sum(delta), sum(cast(account as bigint) * delta) from history")) {
        row.next();
        System.out.println(read + " " + row.getLong(1) + " " + row.getLong(2) + " " + row.getLong(3));
      }
    }
  }
}
