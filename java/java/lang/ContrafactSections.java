package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactLocks.*;
import static java.lang.ContrafactProbes.*;
import static java.lang.ContrafactSetLog.given;
import static java.lang.ContrafactSetLog.segment;
import static java.lang.ContrafactSetLog.taken;

import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The critical sections of chosen classes: every acquisition and release in their code (src/agent_jvm/probes_sections.cc). Nothing is thrown where the program has just got a lock.
 * `site` is the context of the place. While a thread asks for a lock it is quiet: the JDK's own blocks within are part of
 * the request. A request was a wait if the thread stopped meanwhile, or if it took longer than AT_ONCE_NS and another thread held the
 * lock meanwhile. No initialiser: its callers may run in the earliest part of the start-up.
 */
public final class ContrafactSections {
  private static final long AT_ONCE_NS = 1000;
  private static final long AT_ONCE = Long.MAX_VALUE;  // in place of the time at which a lock was asked for
  private static final int TOKEN_BITS = 20;  // of a number in a wait's token
  private static final int TOKEN_MAX = (1 << TOKEN_BITS) - 1;
  private static final int HELD_MAX = 64;  // monitors that a thread holds at a time; those inside are left out

  private ContrafactSections() {}

  private static int heldAt(Thread thread, int depth) {
    int[] held = (int[]) U.getReference(thread, HELD);
    return held != null && depth < held.length ? held[depth] : 0;
  }

  /** Few threads hold more than one monitor, and there may be a million threads. */
  private static void hold(Thread thread, int depth, int number) {
    int[] held = (int[]) U.getReference(thread, HELD);
    if (held == null || depth >= held.length) {
      if (number == 0 || depth >= HELD_MAX) {
        return;
      }
      int[] longer = new int[held == null ? 2 : Math.min(HELD_MAX, 4 * held.length)];
      for (int i = 0; held != null && i < held.length; i++) {
        longer[i] = held[i];
      }
      held = longer;
      U.putReference(thread, HELD, held);
    }
    if (depth < held.length) {
      held[depth] = number;
    }
  }

  /** How often a thread holds a monitor, as far as that was recorded. */
  private static int timesHeld(Thread thread, int number) {
    int times = 0;
    for (int depth = U.getInt(thread, DEPTH) - 1; depth >= 0; depth--) {
      times += heldAt(thread, depth) == number ? 1 : 0;
    }
    return times;
  }

  // ---- monitors

  /** Before a monitor is asked for: the time. 0: this acquisition is not recorded. */
  public static long entering(Object monitor) {
    if (!live || monitor == null) {
      return 0;
    }
    try {
      Thread thread = Thread.currentThread();
      int quiet = U.getInt(thread, QUIET);
      boolean isRecorded = quiet == 0 && thread.getClass() != ContrafactTasks.CARRIER;
      hold(thread, U.getInt(thread, DEPTH), isRecorded ? numberOfMonitor(monitor) : 0);
      long now = System.nanoTime();
      U.putInt(thread, QUIET, quiet + 1);
      return now;
    } catch (Throwable dropped) {  // of the stack or the heap no room is left
      return 0;
    }
  }

  public static void entered(long token, int site) {
    if (!live && token == 0) {
      return;
    }
    Thread thread = Thread.currentThread();
    int depth = U.getInt(thread, DEPTH);
    U.putInt(thread, DEPTH, depth + 1);
    if (token == 0) {  // not recorded, but leaving() will count it
      hold(thread, depth, 0);
      return;
    }
    U.putInt(thread, QUIET, U.getInt(thread, QUIET) - 1);
    int number = heldAt(thread, depth);
    if (number > 0) {
      acquired(thread, token, System.nanoTime(), number, site, false);
    }
  }

  /** A synchronized method that kept its modifier has begun: it has got the monitor already. */
  public static void inside(Object monitor, int site) {
    long token = entering(monitor);
    entered(token == 0 ? 0 : AT_ONCE, site);
  }

  /** Before a monitor is given back. */
  public static void leaving(int site) {
    if (!live) {
      return;
    }
    Thread thread = Thread.currentThread();
    int depth = U.getInt(thread, DEPTH) - 1;
    if (depth < 0) {
      return;  // taken before anything was recorded
    }
    U.putInt(thread, DEPTH, depth);
    int number = heldAt(thread, depth);
    if (number > 0) {
      release(thread, number, site, false);
    }
  }

  private static void release(Thread thread, int number, int site, boolean shared) {
    long now = System.nanoTime();
    segment(thread, now);
    emitAt(thread, LOCK_RELEASE, now, number - 1, site);
    given(thread, now);
    noteRelease(thread, number, shared, ContrafactSets.wanted ? System.nanoTime() : now);
  }

  private static void acquired(Thread thread, long asked, long now, int number, int site, boolean shared) {
    int kind = shared ? 1 : 0;  // the reader's kinds stand behind the others
    if (now - asked <= AT_ONCE_NS || !hasWaited(thread, asked, number, shared)) {
      segment(thread, now);
      emitAt(thread, LOCK_ACQUIRE + kind, now, number - 1, site);
    } else {
      request(thread, kind, asked, now, number, site, NORMAL);
      if (carrier() != thread && U.getLong(thread, STOPPED) >= asked) {
        ContrafactThreads.stayed(thread, site);
      }
    }
    taken(thread, now);
  }

  /** The release may have come a little later than its time says. */
  private static boolean hasWaited(Thread thread, long asked, int number, boolean shared) {
    return U.getLong(thread, STOPPED) >= asked || releasedByOther(thread, number, shared, asked - AT_ONCE_NS);
  }

  private static void request(Thread thread, int kind, long asked, long now, int number, int site, int outcome) {
    segment(thread, asked);
    emitAt(thread, LOCK_REQUEST + 2 * kind, asked, number - 1, site);
    segment(thread, now);
    emitAt(thread, LOCK_ACQUIRED + 2 * kind, now, number - 1, outcome);
  }

  // ---- Object.wait and notify

  /** A thread gives the monitor back and waits to be notified. */
  public static long waiting(Object monitor, int site) {
    if (!live || monitor == null || !Thread.holdsLock(monitor)) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    if (U.getInt(thread, QUIET) > 0) {
      return 0;
    }
    int number = numberOfMonitor(monitor);
    return waitingAt(thread, number, waitSet(monitor), timesHeld(thread, number), site);
  }

  /** Whoever waits gives the lock back as often as it holds it. 0: somebody else's code took it, who knows how often. */
  private static long waitingAt(Thread thread, int number, int set, int times, int site) {
    if (number <= 0 || set <= 0 || times == 0 || (number | set | times) > TOKEN_MAX) {
      return 0;
    }
    if (ContrafactFlow.wanted) {
      ContrafactFlow.waits(thread);
    }
    for (int i = 0; i < times; i++) {
      release(thread, number, site, false);
    }
    segment(thread, System.nanoTime());
    emitAlso(thread, SYNC_WAIT, set - 1, site);
    U.putInt(thread, FLAGS, U.getInt(thread, FLAGS) & ~FLAG_TIMED_OUT);
    U.putLong(thread, STOPPED, 0);
    U.putInt(thread, QUIET, U.getInt(thread, QUIET) + 1);
    return (long) times << 2 * TOKEN_BITS | (long) number << TOKEN_BITS | set;
  }

  /** It has been notified, or has waited for long enough, and holds the monitor again. Of a condition nothing tells which, here. */
  public static void waited(Throwable failure, long token, int site) {
    boolean isOver = failure == null && token != 0 && (U.getInt(Thread.currentThread(), FLAGS) & FLAG_TIMED_OUT) != 0;
    waitEnded(failure != null ? INTERRUPTED : isOver ? TIMEOUT : NORMAL, token, site);
  }

  /** A wait for a condition returned whether it was signalled before its time was over. */
  public static void awaited(boolean signalled, long token, int site) {
    waitEnded(signalled ? NORMAL : TIMEOUT, token, site);
  }

  /** A wait for a condition returned how much of its time was left. */
  public static void awaited(long left, long token, int site) {
    waitEnded(left > 0 ? NORMAL : TIMEOUT, token, site);
  }

  private static void waitEnded(int outcome, long token, int site) {
    if (token == 0) {
      return;
    }
    Thread thread = Thread.currentThread();
    U.putInt(thread, QUIET, U.getInt(thread, QUIET) - 1);
    try {
      long now = System.nanoTime();
      if (carrier() != thread) {
        ContrafactThreads.stayed(thread, site);
      }
      segment(thread, now);
      emitAt(thread, SYNC_WOKEN, now, (int) (token & TOKEN_MAX) - 1, outcome);
      for (long times = token >>> 2 * TOKEN_BITS; times > 0; times--) {
        segment(thread, now);
        emitAlso(thread, LOCK_ACQUIRE, (int) (token >>> TOKEN_BITS & TOKEN_MAX) - 1, site);
        taken(thread, now);
      }
    } catch (Throwable dropped) {
      return;  // the program holds the lock: nothing may be thrown here
    }
  }

  public static void signalling(Object monitor, int site, boolean all) {
    if (!live || monitor == null) {
      return;
    }
    Thread thread = Thread.currentThread();
    if (U.getInt(thread, QUIET) == 0) {
      signal(thread, waitSet(monitor), site, all);
    }
  }

  private static void signal(Thread thread, int set, int site, boolean all) {
    if (set > 0) {
      long now = System.nanoTime();
      segment(thread, now);
      emitAt(thread, all ? SYNC_BROADCAST : SYNC_SIGNAL, now, set - 1, site);
    }
  }

  // ---- java.util.concurrent.locks

  private static Object synchronizerOf(Object lock) {
    if (lock instanceof ReentrantLock) {
      return U.getReference(lock, EXCLUSIVE);
    }
    if (lock instanceof ReentrantReadWriteLock.WriteLock) {
      return U.getReference(lock, WRITE);
    }
    return lock instanceof ReentrantReadWriteLock.ReadLock ? U.getReference(lock, READ) : null;
  }

  private static boolean isShared(Object lock) {
    return lock instanceof ReentrantReadWriteLock.ReadLock;
  }

  /** The number of the lock's row plus one; 0: it is none of the JDK's, and what it does is recorded where it does it. */
  private static int numberOf(Object lock) {
    Object synchronizer = synchronizerOf(lock);
    return synchronizer == null ? 0 : numberOfSynchronizer(synchronizer);
  }

  public static long requesting(Object lock) {
    if (!live || synchronizerOf(lock) == null) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    int quiet = U.getInt(thread, QUIET);
    if (quiet > 0 || numberOf(lock) <= 0) {
      return 0;
    }
    long now = System.nanoTime();
    U.putInt(thread, QUIET, quiet + REQUESTING);
    return now;
  }

  public static void locked(long token, Object lock, int site) {
    if (token == 0) {
      return;
    }
    Thread thread = Thread.currentThread();
    U.putInt(thread, QUIET, U.getInt(thread, QUIET) - REQUESTING);
    try {
      acquired(thread, token, System.nanoTime(), numberOf(lock), site, isShared(lock));
    } catch (Throwable dropped) {
      return;  // the program holds the lock: nothing may be thrown here
    }
  }

  /** Of tryLock: whether it has got the lock. */
  public static void tried(boolean got, long token, Object lock, int site) {
    if (got) {
      locked(token, lock, site);
    } else {
      refused(token, lock, site, TIMEOUT);
    }
  }

  public static void interrupted(long token, Object lock, int site) {
    refused(token, lock, site, INTERRUPTED);
  }

  private static void refused(long token, Object lock, int site, int outcome) {
    if (token == 0) {
      return;
    }
    long now = System.nanoTime();
    Thread thread = Thread.currentThread();
    U.putInt(thread, QUIET, U.getInt(thread, QUIET) - REQUESTING);
    int number = numberOf(lock);
    if (number == 0) {
      return;
    }
    if (now - token <= AT_ONCE_NS) {
      segment(thread, now);
      emitAt(thread, LOCK_BUSY, now, number - 1, site);
    } else {
      request(thread, isShared(lock) ? 1 : 0, token, now, number, site, outcome);
    }
  }

  /** Quiet until unlocked(): a lock may be given back by a class of the program's that is derived from the JDK's. */
  public static long unlocking(Object lock, int site) {
    if (!live || synchronizerOf(lock) == null) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    int quiet = U.getInt(thread, QUIET);
    int number = quiet == 0 ? numberOf(lock) : 0;
    if (number <= 0) {
      return 0;
    }
    release(thread, number, site, isShared(lock));
    U.putInt(thread, QUIET, quiet + 1);
    return 1;
  }

  public static void unlocked(long token) {
    if (token != 0) {
      Thread thread = Thread.currentThread();
      U.putInt(thread, QUIET, U.getInt(thread, QUIET) - 1);
    }
  }

  public static long awaiting(Object condition, int site) {
    if (!live || !(condition instanceof AbstractQueuedSynchronizer.ConditionObject)) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    if (U.getInt(thread, QUIET) > 0) {
      return 0;
    }
    Object synchronizer = U.getReference(condition, OF_CONDITION);
    int number = numberOfSynchronizer(synchronizer);
    return waitingAt(thread, number, numberOfSynchronizer(condition), timesOwned(thread, synchronizer), site);
  }

  public static void signallingCondition(Object condition, int site, boolean all) {
    if (!live || !(condition instanceof AbstractQueuedSynchronizer.ConditionObject)) {
      return;
    }
    Thread thread = Thread.currentThread();
    if (U.getInt(thread, QUIET) == 0) {
      signal(thread, numberOfSynchronizer(condition), site, all);
    }
  }
}
