import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that are blocked below a class initialiser, whose native frame keeps them on their carriers, and others that are blocked and
 * leave. Prints "METHOD|TIMES" for each method in which one stayed, as a recording should say.
 */
public final class Pinned {
  private static final long BLOCKED_MS = 20;

  private static final Object MONITOR = new Object();
  private static final ReentrantLock LOCK = new ReentrantLock();

  private static void parks() {
    LockSupport.parkNanos(BLOCKED_MS * 1_000_000);
  }

  private static void sleeps() {
    try {
      Thread.sleep(BLOCKED_MS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void waits() {
    synchronized (MONITOR) {
      try {
        MONITOR.wait(BLOCKED_MS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void enters() {
    synchronized (MONITOR) {
      Thread.onSpinWait();
    }
  }

  private static void locks() {
    LOCK.lock();
    LOCK.unlock();
  }

  static final class Parks {
    static {
      parks();
    }

    static void initialise() {}
  }

  static final class Sleeps {
    static {
      sleeps();
    }

    static void initialise() {}
  }

  static final class Waits {
    static {
      waits();
    }

    static void initialise() {}
  }

  static final class Enters {
    static {
      enters();
    }

    static void initialise() {}
  }

  static final class Locks {
    static {
      locks();
    }

    static void initialise() {}
  }

  private static void run(Runnable body) throws InterruptedException {
    Thread.ofVirtual().start(body).join();
  }

  /** Both locks are held until the thread has been blocked for a while. */
  private static void runAgainst(Runnable body) throws InterruptedException {
    Thread thread;
    LOCK.lock();
    try {
      synchronized (MONITOR) {
        thread = Thread.ofVirtual().start(body);
        while (thread.getState() != Thread.State.BLOCKED && thread.getState() != Thread.State.WAITING) {
          Thread.sleep(1);
        }
        Thread.sleep(BLOCKED_MS);
      }
    } finally {
      LOCK.unlock();
    }
    thread.join();
  }

  public static void main(String[] args) throws InterruptedException {
    run(Parks::initialise);
    run(Sleeps::initialise);
    run(Waits::initialise);
    runAgainst(Enters::initialise);
    runAgainst(Locks::initialise);
    run(Pinned::parks);
    run(Pinned::sleeps);
    run(Pinned::waits);
    runAgainst(Pinned::enters);
    runAgainst(Pinned::locks);
    boolean monitorsPin = Runtime.version().feature() < 24;  // each of them, before
    System.out.println("Pinned.parks|1");
    System.out.println("Pinned.sleeps|1");
    System.out.println("Pinned.waits|" + (monitorsPin ? 2 : 1));
    System.out.println("Pinned.enters|" + (monitorsPin ? 2 : 1));
    System.out.println("Pinned.locks|1");
  }
}
