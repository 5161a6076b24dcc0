import java.lang.reflect.Method;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits in every way that Java code has, each until it is woken and until its time is over, and prints "METHOD|ENDED WELL|FAILED" as a
 * recording of this class should say of the place in that method.
 */
public final class Waits {
  private static final long SHORT_MS = 20;
  private static final long LONG_MS = 60_000;

  private static final Object BELL = new Object();
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static final Condition CONDITION = LOCK.newCondition();

  private static volatile Thread waiter;

  interface Wait {
    void run() throws InterruptedException;
  }

  private static void waitWoken() throws InterruptedException {
    synchronized (BELL) {
      BELL.wait(LONG_MS);
    }
  }

  private static void waitForever() throws InterruptedException {
    synchronized (BELL) {
      BELL.wait();
    }
  }

  private static void waitOver() throws InterruptedException {
    synchronized (BELL) {
      BELL.wait(SHORT_MS);
    }
  }

  private static void waitNanosOver() throws InterruptedException {
    synchronized (BELL) {
      BELL.wait(SHORT_MS, 1);
    }
  }

  private static void waitInterrupted() {
    synchronized (BELL) {
      try {
        BELL.wait(LONG_MS);
        throw new AssertionError("not interrupted");
      } catch (InterruptedException expected) {
        Thread.onSpinWait();
      }
    }
  }

  private static void awaitForever() throws InterruptedException {
    LOCK.lock();
    CONDITION.await();
    LOCK.unlock();
  }

  private static void awaitWoken() throws InterruptedException {
    LOCK.lock();
    check(CONDITION.await(LONG_MS, TimeUnit.MILLISECONDS));
    LOCK.unlock();
  }

  private static void awaitOver() throws InterruptedException {
    LOCK.lock();
    check(!CONDITION.await(SHORT_MS, TimeUnit.MILLISECONDS));
    LOCK.unlock();
  }

  private static void awaitNanosWoken() throws InterruptedException {
    LOCK.lock();
    check(CONDITION.awaitNanos(TimeUnit.MILLISECONDS.toNanos(LONG_MS)) > 0);
    LOCK.unlock();
  }

  private static void awaitNanosOver() throws InterruptedException {
    LOCK.lock();
    check(CONDITION.awaitNanos(TimeUnit.MILLISECONDS.toNanos(SHORT_MS)) <= 0);
    LOCK.unlock();
  }

  private static void awaitUntilWoken() throws InterruptedException {
    LOCK.lock();
    check(CONDITION.awaitUntil(new Date(System.currentTimeMillis() + LONG_MS)));
    LOCK.unlock();
  }

  private static void awaitUntilOver() throws InterruptedException {
    LOCK.lock();
    check(!CONDITION.awaitUntil(new Date(System.currentTimeMillis() + SHORT_MS)));
    LOCK.unlock();
  }

  private static void check(boolean right) {
    if (!right) {
      throw new AssertionError("the wait did not end as it should");
    }
  }

  private static Thread thread(Runnable body, boolean isVirtual) throws Exception {
    if (!isVirtual) {
      Thread thread = new Thread(body);
      thread.start();
      return thread;
    }
    Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    return (Thread) start.invoke(null, body);
  }

  /** A thread that waits with a time, or without one if another ends its wait; `isOver`: nobody does. */
  private static void run(Wait wait, Runnable waker, boolean isVirtual) throws Exception {
    Thread thread = thread(() -> {
      try {
        wait.run();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }, isVirtual);
    waiter = thread;
    while (waker != null && thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.sleep(1);
    }
    if (waker != null) {
      waker.run();
    }
    thread.join();
  }

  private static void ring() {
    synchronized (BELL) {
      BELL.notify();
    }
  }

  private static void signal() {
    LOCK.lock();
    CONDITION.signal();
    LOCK.unlock();
  }

  private static void interrupt() {
    waiter.interrupt();
  }

  private static void all(boolean isVirtual) throws Exception {
    run(Waits::waitWoken, Waits::ring, isVirtual);
    run(Waits::waitForever, Waits::ring, isVirtual);
    run(Waits::waitOver, null, isVirtual);
    run(Waits::waitNanosOver, null, isVirtual);
    run(Waits::waitInterrupted, Waits::interrupt, isVirtual);
    run(Waits::awaitForever, Waits::signal, isVirtual);
    run(Waits::awaitWoken, Waits::signal, isVirtual);
    run(Waits::awaitOver, null, isVirtual);
    run(Waits::awaitNanosWoken, Waits::signal, isVirtual);
    run(Waits::awaitNanosOver, null, isVirtual);
    run(Waits::awaitUntilWoken, Waits::signal, isVirtual);
    run(Waits::awaitUntilOver, null, isVirtual);
  }

  public static void main(String[] args) throws Exception {
    all(false);
    int times = 1;
    if (Runtime.version().feature() >= 21) {
      all(true);
      times = 2;
    }
    for (String woken : new String[] {"waitWoken", "waitForever", "awaitForever", "awaitWoken", "awaitNanosWoken", "awaitUntilWoken"}) {
      System.out.println("Waits." + woken + "|" + times + "|0");
    }
    for (String over : new String[] {"waitOver", "waitNanosOver", "waitInterrupted", "awaitOver", "awaitNanosOver", "awaitUntilOver"}) {
      System.out.println("Waits." + over + "|0|" + times);
    }
  }
}
