package java.lang;

import static java.lang.ContrafactEvents.*;

import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The numbers of locks, which are those of their rows (src/agent_jvm/locks.h) plus one, and what a thread is parked for.
 * Initialised only after the virtual machine is: it uses Unsafe.
 */
final class ContrafactLocks {
  // Fields that the agent adds.
  private static final long LOCK = U.objectFieldOffset(AbstractOwnableSynchronizer.class, "contrafactLock");
  // The monitors that a thread holds, outermost first: their numbers, 0 for one that is not recorded.
  static final long HELD = U.objectFieldOffset(Thread.class, "contrafactHeld");
  static final long DEPTH = U.objectFieldOffset(Thread.class, "contrafactDepth");

  // Fields of the JDK's.
  private static final long OWNER = U.objectFieldOffset(AbstractOwnableSynchronizer.class, "exclusiveOwnerThread");
  private static final long BLOCKER = U.objectFieldOffset(Thread.class, "parkBlocker");
  private static final long STATE = U.objectFieldOffset(AbstractQueuedSynchronizer.class, "state");
  static final long EXCLUSIVE = U.objectFieldOffset(ReentrantLock.class, "sync");
  static final long READ = U.objectFieldOffset(ReentrantReadWriteLock.ReadLock.class, "sync");
  static final long WRITE = U.objectFieldOffset(ReentrantReadWriteLock.WriteLock.class, "sync");
  static final long OF_CONDITION = U.objectFieldOffset(AbstractQueuedSynchronizer.ConditionObject.class, "this$0");

  // Monitors' numbers by identity hash: words HASH << 32 | NUMBER. What finds no room is asked of the agent each time.
  private static final int SLOTS = 1 << 16;
  private static final int PROBES = 8;
  private static final long TABLE = U.allocateMemory(8L * SLOTS);

  // By a lock's number: who gave it back last, after having had it alone (LAST), and as a reader (LAST + READER), each at
  // THREAD with the time at TIME. A cache line for each. Whoever has just got the lock alone reads what those before it wrote; of several
  // readers any may be the last.
  private static final int RELEASES = 1 << 16;
  private static final int LINE = 64;
  private static final int THREAD_AT = 0;
  private static final int TIME_AT = 8;
  private static final int READER = 16;
  private static final long LAST = releases(RELEASES * LINE);  // 0: there is no memory for them

  static {
    U.setMemory(TABLE, 8L * SLOTS, (byte) 0);
  }

  private ContrafactLocks() {}

  /** Links the native methods, as ContrafactEvents does. */
  static void prepare() {
    synchronizer(null, false);
    placeOf(null);
    monitor(null);
    waitSet(null);
  }

  // Found by the JVM in the agent.
  private static native int synchronizer(Object blocker, boolean hasOwner);
  private static native int placeOf(Thread holder);  // the context that it is in; -1: nobody looked
  private static native int monitor(Object object);
  static native int waitSet(Object object);
  private static native long releases(int bytes);  // zeros

  /** `thread` gives the lock back, at this time or a little later. */
  static void noteRelease(Thread thread, int number, boolean shared, long time) {
    if (number < RELEASES && LAST != 0) {
      long last = LAST + (long) number * LINE + (shared ? READER : 0);
      U.putInt(last + THREAD_AT, threadId(thread) + 1);
      U.putLong(last + TIME_AT, time);
    }
  }

  /** Whether another thread than `thread`, which has just got the lock, gave it back after this time: who reads waits for no reader. */
  static boolean releasedByOther(Thread thread, int number, boolean shared, long time) {
    if (number >= RELEASES || LAST == 0) {
      return false;
    }
    long last = LAST + (long) number * LINE;
    return isByOther(thread, last, time) || !shared && isByOther(thread, last + READER, time);
  }

  private static boolean isByOther(Thread thread, long last, long time) {
    int by = U.getInt(last + THREAD_AT);
    return by != 0 && by != threadId(thread) + 1 && U.getLong(last + TIME_AT) > time;
  }

  /** Not while the caller is the first to lock the object: then the JVM has to make room for the hash elsewhere. */
  static int numberOfMonitor(Object object) {
    int hash = System.identityHashCode(object);
    int slot = (hash ^ hash >>> 15) & SLOTS - 1;
    for (int i = 0; i < PROBES; i++) {
      long address = TABLE + 8L * slot;
      long word = U.getLongVolatile(null, address);
      if (word == 0) {
        int number = monitor(object);
        U.compareAndSetLong(null, address, 0, (long) hash << 32 | number);
        return number;
      }
      if ((int) (word >>> 32) == hash) {
        return (int) word;
      }
      slot = slot + 1 & SLOTS - 1;
    }
    return monitor(object);
  }

  static int numberOfSynchronizer(Object object) {
    if (!(object instanceof AbstractOwnableSynchronizer)) {
      return synchronizer(object, false);
    }
    int number = U.getInt(object, LOCK);
    if (number == 0) {
      number = synchronizer(object, U.getReferenceVolatile(object, OWNER) != null);
      U.putInt(object, LOCK, number);
    }
    return number;
  }

  /** How often a thread owns a lock of the JDK's. Of a reader-writer lock the lower half of the state counts the writer. */
  static int timesOwned(Thread thread, Object synchronizer) {
    if (U.getReferenceVolatile(synchronizer, OWNER) != thread) {
      return 0;
    }
    return U.getIntVolatile(synchronizer, STATE) & 0xffff;
  }

  static void blockedOn(Thread thread) {
    Object blocker = U.getReferenceVolatile(thread, BLOCKER);
    if (blocker != null) {
      blockedOn(thread, blocker);
    }
  }

  /** The block that `thread`, the current one, has just begun is for `blocker`. */
  static void blockedOn(Thread thread, Object blocker) {
    Thread owner = blocker instanceof AbstractOwnableSynchronizer ? (Thread) U.getReferenceVolatile(blocker, OWNER) : null;
    int number = numberOfSynchronizer(blocker);
    if (number == 0) {
      return;
    }
    if (owner == null || owner == thread) {
      emitAlso(thread, BLOCKED_ON, number - 1, NONE);
      return;
    }
    int place = placeOf(owner);
    emitAlso(thread, BLOCKED_ON, number - 1, threadId(owner));
    if (place != NONE) {
      emitAlso(thread, HOLDER_AT, place);
    }
  }
}
