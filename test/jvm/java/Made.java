import java.util.concurrent.locks.ReentrantLock;

/** Makes locks in each way; "made: LOCK" behind a line says which one it makes, as a recording of this class should. */
public final class Made {
  private static final Object STATIC = new Object(); // made: Made.STATIC (Object)
  private final Object first = new Object(); // made: Made.first (Object)
  private final ReentrantLock lock;
  private StringBuilder twice;

  /** Of a lock that it did not make itself. */
  private static final class User {
    private final ReentrantLock given;

    User(ReentrantLock given) {
      this.given = given;
    }

    void use() {
      given.lock();
      given.unlock();
    }
  }

  private Made() {
    lock = new ReentrantLock(true); // made: Made.lock (ReentrantLock)
    twice = new StringBuilder(); // made: Made.twice (StringBuilder)
  }

  private void again() {
    twice = new StringBuilder("again"); // made: Made.twice (StringBuilder)
  }

  private void useStatic() {
    synchronized (STATIC) {
      Thread.onSpinWait();
    }
  }

  private void useFirst() {
    synchronized (first) {
      Thread.onSpinWait();
    }
  }

  private void useTwice() {
    synchronized (twice) {
      Thread.onSpinWait();
    }
  }

  private void useLock() {
    lock.lock();
    lock.unlock();
  }

  public static void main(String[] args) {
    for (int i = 0; i < 3; i++) {
      Made made = new Made();
      made.useStatic();
      made.useFirst();
      made.useTwice();
      made.again();
      made.useTwice();
      made.useLock();
      new User(new ReentrantLock()).use();
    }
    System.out.println("used");
  }
}
