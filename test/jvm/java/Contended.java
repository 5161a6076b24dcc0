import java.io.Serializable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Asks for locks that nobody holds, and for some that another thread holds, and prints "LOCK|AT LEAST|AT MOST": how often a recording of this
 * class should say that a thread waited for it. To be interpreted, so that requests take long by themselves.
 */
public final class Contended {
  private static final int ALONE = 300;
  private static final int TURNS = 10;
  private static final int BRIEF = 40;
  private static final long BRIEF_NS = 100_000;

  static final Object ALONE_MONITOR = new Object();
  static final ReentrantLock ALONE_LOCK = new ReentrantLock();
  static final ReentrantReadWriteLock ALONE_READ = new ReentrantReadWriteLock();
  static final ReentrantReadWriteLock ALONE_WRITE = new ReentrantReadWriteLock();
  static final Object TURNS_MONITOR = new Object();
  static final ReentrantLock TURNS_LOCK = new ReentrantLock();
  static final ReentrantReadWriteLock TURNS_TABLE = new ReentrantReadWriteLock();
  static final ReentrantReadWriteLock READERS = new ReentrantReadWriteLock();
  static final Object HELD_MONITOR = new Object();
  static final ReentrantLock HELD_LOCK = new ReentrantLock();
  static final ReentrantLock HELD_TRIED = new ReentrantLock();
  static final ReentrantReadWriteLock WRITER_WAITS = new ReentrantReadWriteLock();
  static final ReentrantReadWriteLock READER_WAITS = new ReentrantReadWriteLock();
  static final Object UNSEEN_MONITOR = new Object();
  static final ReentrantLock UNSEEN_LOCK = new ReentrantLock();
  static final Object BRIEF_MONITOR = new Object();
  static final ReentrantLock BRIEF_LOCK = new ReentrantLock();

  interface Use {
    void run(Runnable inside) throws InterruptedException;
  }

  /** Its synchronized methods keep their modifier: the number of its serialised form follows from it. */
  @SuppressWarnings("serial")
  static final class Stored implements Serializable {
    synchronized void run() {}
  }

  private static volatile boolean held;
  private static volatile boolean asks;
  private static volatile Thread waiter;

  private static Use monitor(Object monitor) {
    return inside -> {
      synchronized (monitor) {
        inside.run();
      }
    };
  }

  private static Use lock(Lock lock) {
    return inside -> {
      lock.lock();
      try {
        inside.run();
      } finally {
        lock.unlock();
      }
    };
  }

  private static Use tried(Lock lock) {
    return inside -> {
      if (!lock.tryLock(1, TimeUnit.MINUTES)) {
        throw new AssertionError("it was not given back");
      }
      inside.run();
      lock.unlock();
    };
  }

  private static void run(Use use, Runnable inside) {
    try {
      use.run(inside);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void alone(Use use) {
    for (int i = 0; i < ALONE; i++) {
      run(use, () -> {});
    }
  }

  private static void inTurns(Use use) throws InterruptedException {
    for (int i = 0; i < TURNS; i++) {
      Thread other = new Thread(() -> run(use, () -> {}));
      other.start();
      other.join();
      run(use, () -> {});
    }
  }

  /** This thread holds the lock until `until` is true, and another one asks for it meanwhile. */
  private static void together(Use holding, Use asking, Runnable until) throws InterruptedException {
    held = asks = false;
    Thread other = new Thread(() -> {
      while (!held) {
        Thread.yield();
      }
      asks = true;
      run(asking, () -> {});
    });
    waiter = other;
    other.start();
    run(holding, () -> {
      held = true;
      until.run();
    });
    other.join();
  }

  static void untilBlocked() {
    while (!asks || waiter.getState() == Thread.State.RUNNABLE) {
      Thread.yield();
    }
  }

  private static void untilOver() {
    while (waiter.isAlive()) {
      Thread.yield();
    }
  }

  /** Too short for some waiting threads to be stopped. */
  private static void briefly() {
    while (!asks) {
      Thread.yield();
    }
    for (long end = System.nanoTime() + BRIEF_NS; System.nanoTime() < end; ) {
      Thread.onSpinWait();
    }
  }

  private static void say(String name, String type, int least, int most) {
    System.out.println("Contended." + name + " (" + type + ")|" + least + "|" + most);
  }

  public static void main(String[] args) throws InterruptedException {
    String object = "Object", lock = "ReentrantLock", table = "ReentrantReadWriteLock";
    alone(monitor(ALONE_MONITOR));
    say("ALONE_MONITOR", object, 0, 0);
    alone(lock(ALONE_LOCK));
    alone(tried(ALONE_LOCK));
    say("ALONE_LOCK", lock, 0, 0);
    alone(lock(ALONE_READ.readLock()));
    say("ALONE_READ", table, 0, 0);
    alone(lock(ALONE_WRITE.writeLock()));
    say("ALONE_WRITE", table, 0, 0);
    Stored stored = new Stored();
    alone(inside -> stored.run());
    System.out.println("Contended$Stored|0|0");

    inTurns(monitor(TURNS_MONITOR));
    say("TURNS_MONITOR", object, 0, 0);
    inTurns(lock(TURNS_LOCK));
    say("TURNS_LOCK", lock, 0, 0);
    inTurns(lock(TURNS_TABLE.readLock()));
    inTurns(lock(TURNS_TABLE.writeLock()));
    say("TURNS_TABLE", table, 0, 0);
    together(lock(READERS.readLock()), lock(READERS.readLock()), Contended::untilOver);
    say("READERS", table, 0, 0);

    together(monitor(HELD_MONITOR), monitor(HELD_MONITOR), Contended::untilBlocked);
    say("HELD_MONITOR", object, 1, 1);
    together(lock(HELD_LOCK), lock(HELD_LOCK), Contended::untilBlocked);
    say("HELD_LOCK", lock, 1, 1);
    together(lock(HELD_TRIED), tried(HELD_TRIED), Contended::untilBlocked);
    say("HELD_TRIED", lock, 1, 1);
    together(lock(WRITER_WAITS.readLock()), lock(WRITER_WAITS.writeLock()), Contended::untilBlocked);
    say("WRITER_WAITS", table, 1, 1);
    together(lock(READER_WAITS.writeLock()), lock(READER_WAITS.readLock()), Contended::untilBlocked);
    say("READER_WAITS", table, 1, 1);
    together(inside -> Unseen.holdMonitor(UNSEEN_MONITOR, inside), monitor(UNSEEN_MONITOR), Contended::untilBlocked);
    say("UNSEEN_MONITOR", object, 1, 1);
    together(inside -> Unseen.holdLock(UNSEEN_LOCK, inside), lock(UNSEEN_LOCK), Contended::untilBlocked);
    say("UNSEEN_LOCK", lock, 1, 1);

    // Where the thread is off its core when it should ask, it finds the lock free.
    for (int i = 0; i < BRIEF; i++) {
      together(monitor(BRIEF_MONITOR), monitor(BRIEF_MONITOR), Contended::briefly);
      together(lock(BRIEF_LOCK), lock(BRIEF_LOCK), Contended::briefly);
    }
    say("BRIEF_MONITOR", object, BRIEF / 2, BRIEF);
    say("BRIEF_LOCK", lock, BRIEF / 2, BRIEF);
  }
}

/** Is not chosen: that it holds a lock is not recorded. */
final class Unseen {
  private Unseen() {}

  static void holdMonitor(Object monitor, Runnable inside) {
    synchronized (monitor) {
      inside.run();
    }
  }

  static void holdLock(Lock lock, Runnable inside) {
    lock.lock();
    try {
      inside.run();
    } finally {
      lock.unlock();
    }
  }
}
