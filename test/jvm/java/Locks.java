import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * For each kind of lock one wait: a thread holds it, in holdUntilAwaited(), until another has waited for it for 30 ms.
 * Prints "KIND|LOCK|WAITER|HOLDER" for each, as `contrafact locks` should name them; an empty HOLDER: nobody holds it.
 */
public final class Locks {
  private static final long AWAITED_MS = 30;
  private static final long BETWEEN_MS = 300;  // looks at holders are rationed

  interface Use {
    /** Takes the lock, runs `inside`, gives the lock back. */
    void run(Runnable inside) throws Exception;
  }

  /** As any library may have one: neither reentrant nor of the JDK. */
  static final class HandMade extends AbstractQueuedSynchronizer {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean tryAcquire(int ignored) {
      if (!compareAndSetState(0, 1)) {
        return false;
      }
      setExclusiveOwnerThread(Thread.currentThread());
      return true;
    }

    @Override
    protected boolean tryRelease(int ignored) {
      setExclusiveOwnerThread(null);
      setState(0);
      return true;
    }
  }

  static final class Account {
    synchronized void method(Runnable inside) {
      inside.run();
    }

    static synchronized void ofClass(Runnable inside) {
      inside.run();
    }
  }

  private static final Object GATE = new Object();
  private static final ReentrantLock STATIC_LOCK = new ReentrantLock();
  private static final StampedLock STAMPED = new StampedLock();
  private static final Semaphore PERMITS = new Semaphore(1);
  private static final HandMade HAND_MADE = new HandMade();
  private static final Account ACCOUNT = new Account();

  private final Lock own = new ReentrantLock(true);
  private final ReentrantReadWriteLock table = new ReentrantReadWriteLock();

  private static volatile boolean held;
  private static volatile boolean asking;
  private static volatile Thread waiter;

  private static void holdUntilAwaited() {
    held = true;
    try {
      while (!asking || waiter.getState() == Thread.State.RUNNABLE) {
        Thread.sleep(1);
      }
      Thread.sleep(AWAITED_MS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void run(Use use, Runnable inside) {
    try {
      use.run(inside);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Thread thread(String name, boolean isVirtual, Runnable body) throws Exception {
    if (!isVirtual) {
      return new Thread(body, name);
    }
    Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
    Class<?> type = Class.forName("java.lang.Thread$Builder");
    Method named = type.getMethod("name", String.class);
    return (Thread) type.getMethod("unstarted", Runnable.class).invoke(named.invoke(builder, name), body);
  }

  private static void contend(String kind, String lock, Use holding, Use waiting, boolean isVirtual) throws Exception {
    held = asking = false;
    String suffix = isVirtual ? " v" : "";
    Thread holder = thread("holder of " + lock + suffix, isVirtual, () -> run(holding, Locks::holdUntilAwaited));
    waiter = thread("waiter for " + lock + suffix, isVirtual, () -> {
      asking = true;
      run(waiting, () -> {});
    });
    holder.start();
    while (!held) {
      Thread.sleep(1);
    }
    waiter.start();
    waiter.join();
    holder.join();
    Thread.sleep(BETWEEN_MS);
    System.out.println(kind + "|" + lock + "|" + waiter.getName() + "|" + holder.getName());
  }

  private static void locked(Lock lock, Runnable inside) {
    lock.lock();
    try {
      inside.run();
    } finally {
      lock.unlock();
    }
  }

  private static void gated(Runnable inside) {
    synchronized (GATE) {
      inside.run();
    }
  }

  private void locks(boolean isVirtual) throws Exception {
    contend("monitor", "Locks.GATE (Object)", Locks::gated, Locks::gated, isVirtual);
    contend("monitor", "Locks$Account", ACCOUNT::method, ACCOUNT::method, isVirtual);
    contend("monitor", "Locks$Account.class", Account::ofClass, Account::ofClass, isVirtual);
    contend("mutex", "Locks.STATIC_LOCK (ReentrantLock)", in -> locked(STATIC_LOCK, in), in -> locked(STATIC_LOCK, in), isVirtual);
    contend("mutex", "Locks.own (ReentrantLock)", in -> locked(own, in), in -> locked(own, in), isVirtual);
    contend("rwlock", "Locks.table (ReentrantReadWriteLock)", in -> locked(table.writeLock(), in),
        in -> locked(table.readLock(), in), isVirtual);
    contend("mutex", "Locks$HandMade", in -> {
      HAND_MADE.acquire(1);
      inside(in, () -> HAND_MADE.release(1));
    }, in -> {
      HAND_MADE.acquire(1);
      inside(in, () -> HAND_MADE.release(1));
    }, isVirtual);
  }

  private static void inside(Runnable inside, Runnable after) {
    try {
      inside.run();
    } finally {
      after.run();
    }
  }

  /** Whoever holds these is not known. */
  private static void unheld() throws Exception {
    Use stamped = in -> {
      long stamp = STAMPED.writeLock();
      inside(in, () -> STAMPED.unlockWrite(stamp));
    };
    Use permit = in -> {
      PERMITS.acquire();
      inside(in, PERMITS::release);
    };
    contend("rwlock", "Locks.STAMPED (StampedLock)", stamped, stamped, false);
    contend("semaphore", "Locks.PERMITS (Semaphore)", permit, permit, false);
    CountDownLatch latch = new CountDownLatch(1);
    contend("barrier", "java.util.concurrent.CountDownLatch", in -> inside(in, latch::countDown), in -> latch.await(), false);
    ArrayBlockingQueue<Integer> queue = new ArrayBlockingQueue<>(1);
    contend("condition", "java.util.concurrent.locks.AbstractQueuedSynchronizer", in -> inside(in, () -> queue.add(1)),
        in -> queue.take(), false);
    Object bell = new ArrayList<Integer>();
    contend("condition", "java.util.ArrayList", in -> inside(in, () -> {
      synchronized (bell) {
        bell.notify();
      }
    }), in -> {
      synchronized (bell) {
        bell.wait();
      }
    }, false);
  }

  public static void main(String[] args) throws Exception {
    new Locks().locks(false);
    if (Runtime.version().feature() >= 24) {  // before, a virtual thread that waits for a monitor occupies its carrier
      new Locks().locks(true);
    }
    System.out.println("--");
    unheld();
  }
}
