import java.io.Serializable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Acquires locks in every way that Java code has, and prints "LOCK|ACQUISITIONS" as a recording of this class should
 * count them: a recursive acquisition is part of the outermost, and who waits or awaits acquires anew.
 */
public final class Sections {
  static final Object RECURSIVE = new Object();
  static final Object THROWING = new Object();
  static final Object RETURNING = new Object();
  static final Object LOOPING = new Object();
  static final Object OUTER = new Object();
  static final Object INNER = new Object();
  static final Object BELL = new Object();
  static final Object NESTED = new Object();
  static final Derived DERIVED = new Derived();
  static final ReentrantLock TAKEN = new ReentrantLock();
  static final ReentrantLock TRIED = new ReentrantLock();
  static final ReentrantLock BUSY = new ReentrantLock();
  static final ReentrantLock INTERRUPTED = new ReentrantLock();
  static final ReentrantLock AWAITED = new ReentrantLock();
  static final ReentrantReadWriteLock TABLE = new ReentrantReadWriteLock();
  static final ReentrantReadWriteLock SHARED = new ReentrantReadWriteLock();

  /** Its synchronized methods keep their modifier: the number of its serialised form follows from it. */
  @SuppressWarnings("serial")
  static class Stored implements Serializable {
    private int value;

    synchronized int add(int more) {
      value += more;
      return value;
    }

    static synchronized int twice(int value) {
      return 2 * value;
    }
  }

  static class Counter {
    private long value;

    synchronized long add(long more) {
      return more == 0 ? value : add(more - 1) + 1;
    }

    static synchronized void ofClass() {}

    private synchronized void failing() {
      throw new IllegalStateException();
    }
  }

  private static int recursive(int depth) {
    synchronized (RECURSIVE) {
      return depth == 0 ? 0 : 1 + recursive(depth - 1);
    }
  }

  private static void throwing() {
    synchronized (THROWING) {
      throw new IllegalStateException();
    }
  }

  private static int returning(int value) {
    synchronized (RETURNING) {
      if (value > 0) {
        return value;
      }
    }
    return -value;
  }

  private static long looping(int rounds) {
    long sum = 0;
    for (int i = 0; i < rounds; i++) {
      synchronized (LOOPING) {
        if (i % 3 == 0) {
          continue;
        }
        sum += i;
        if (sum < 0) {
          break;
        }
      }
    }
    return sum;
  }

  private static void nested() {
    synchronized (OUTER) {
      synchronized (INNER) {
        Thread.onSpinWait();
      }
      synchronized (INNER) {
        Thread.onSpinWait();
      }
    }
  }

  private static void fails(Runnable code) {
    try {
      code.run();
      throw new AssertionError("nothing was thrown");
    } catch (IllegalStateException expected) {
      Thread.onSpinWait();
    }
  }

  private static void locked(Lock lock) {
    lock.lock();
    try {
      Thread.onSpinWait();
    } finally {
      lock.unlock();
    }
  }

  private static void tried() throws InterruptedException {
    if (TRIED.tryLock()) {
      TRIED.unlock();
    }
    if (TRIED.tryLock(1, TimeUnit.SECONDS)) {
      TRIED.unlock();
    }
  }

  /** This thread holds the lock; another tries, waits in vain, and is interrupted. */
  private static void refused() throws InterruptedException {
    BUSY.lock();
    INTERRUPTED.lock();
    CountDownLatch asks = new CountDownLatch(1);
    Thread other = new Thread(() -> {
      try {
        if (BUSY.tryLock() || BUSY.tryLock(5, TimeUnit.MILLISECONDS)) {
          throw new AssertionError("it was free");
        }
        asks.countDown();
        INTERRUPTED.lockInterruptibly();
        throw new AssertionError("it was not interrupted");
      } catch (InterruptedException expected) {
        Thread.onSpinWait();
      }
    });
    other.start();
    asks.await();
    other.interrupt();
    other.join();
    INTERRUPTED.unlock();
    BUSY.unlock();
  }

  /** Three readers wait for the writer for 30 ms. Each that gets the lock wakes the next, within its own request. */
  private static void readersWait() throws InterruptedException {
    Thread[] readers = new Thread[3];
    SHARED.writeLock().lock();
    for (int i = 0; i < readers.length; i++) {
      readers[i] = new Thread(() -> locked(SHARED.readLock()));
      readers[i].start();
    }
    while (SHARED.getQueueLength() < readers.length) {
      Thread.sleep(1);
    }
    Thread.sleep(30);
    SHARED.writeLock().unlock();
    for (Thread reader : readers) {
      reader.join();
    }
  }

  private static boolean rung;

  private static void bell() throws InterruptedException {
    Thread ringer = new Thread(() -> {
      synchronized (BELL) {
        rung = true;
        BELL.notifyAll();
      }
    });
    synchronized (BELL) {
      ringer.start();
      while (!rung) {
        BELL.wait();
      }
    }
    synchronized (BELL) {
      BELL.wait(1);
    }
    ringer.join();
  }

  private static boolean rungTwice;

  /** Waits while it holds the monitor twice: both are given back, and both are taken again. */
  private static void nestedBell() throws InterruptedException {
    Thread ringer = new Thread(() -> {
      synchronized (NESTED) {
        rungTwice = true;
        NESTED.notify();
      }
    });
    synchronized (NESTED) {
      ringer.start();
      synchronized (NESTED) {
        while (!rungTwice) {
          NESTED.wait();
        }
      }
    }
    ringer.join();
  }

  /** A lock that is derived from the JDK's, and calls it. */
  @SuppressWarnings("serial")
  static final class Derived extends ReentrantLock {
    @Override
    public void unlock() {
      super.unlock();
    }
  }

  private static void derived() {
    DERIVED.lock();
    DERIVED.lock();
    DERIVED.unlock();
    DERIVED.unlock();
    locked(DERIVED);
  }

  private static boolean told;

  private static void awaited() throws InterruptedException {
    Condition condition = AWAITED.newCondition();
    Thread teller = new Thread(() -> {
      AWAITED.lock();
      try {
        told = true;
        condition.signal();
      } finally {
        AWAITED.unlock();
      }
    });
    AWAITED.lock();
    try {
      teller.start();
      while (!told) {
        condition.await();
      }
      condition.await(1, TimeUnit.MILLISECONDS);
    } finally {
      AWAITED.unlock();
    }
    teller.join();
  }

  public static void main(String[] args) throws Exception {
    recursive(5);
    recursive(0);
    fails(Sections::throwing);
    returning(1);
    returning(-1);
    looping(100);
    nested();
    new Counter().add(4);
    Counter.ofClass();
    fails(new Counter()::failing);
    new Stored().add(Stored.twice(2));
    locked(TAKEN);
    tried();
    refused();
    locked(TABLE.writeLock());
    locked(TABLE.readLock());
    readersWait();
    bell();
    nestedBell();
    derived();
    awaited();
    String object = " (Object)", lock = " (ReentrantLock)";
    System.out.println("Sections.RECURSIVE" + object + "|2");
    System.out.println("Sections.THROWING" + object + "|1");
    System.out.println("Sections.RETURNING" + object + "|2");
    System.out.println("Sections.LOOPING" + object + "|100");
    System.out.println("Sections.OUTER" + object + "|1");
    System.out.println("Sections.INNER" + object + "|2");
    System.out.println("Sections$Counter|2");
    System.out.println("Sections$Counter.class|1");
    System.out.println("Sections$Stored|1");
    System.out.println("Sections$Stored.class|1");
    System.out.println("Sections.TAKEN" + lock + "|1");
    System.out.println("Sections.TRIED" + lock + "|2");
    System.out.println("Sections.BUSY" + lock + "|1");
    System.out.println("Sections.INTERRUPTED" + lock + "|1");
    System.out.println("Sections.TABLE (ReentrantReadWriteLock)|2");
    System.out.println("Sections.SHARED (ReentrantReadWriteLock)|4");
    System.out.println("Sections.BELL" + object + "|5");
    System.out.println("Sections.NESTED" + object + "|3");
    System.out.println("Sections.DERIVED (ReentrantLock)|2");
    System.out.println("Sections.AWAITED" + lock + "|4");
  }
}
