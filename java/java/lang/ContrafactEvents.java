package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Writes events into the current thread's off-heap buffer (include/contrafact/deferred_buffer.h) and keeps the fields
 * that the agent adds to Thread and to the task classes. Initialised only after the virtual machine is: it uses Unsafe.
 */
final class ContrafactEvents {
  static final Unsafe U = Unsafe.getUnsafe();

  // Format: src/format/event.h. The order is the contract.
  static final int THREAD_BEGIN = 0;
  static final int THREAD_END = 1;
  static final int TASK_CREATE = 2;
  static final int TASK_DEPENDS = 3;
  static final int TASK_SPAWN = 4;
  static final int TASK_DELAY = 5;
  static final int TASK_DROP = 6;
  static final int TASK_START = 7;
  static final int TASK_END = 8;
  static final int TASK_COMPLETE = 9;
  static final int WAIT_BEGIN = 10;
  static final int WAIT_END = 11;
  static final int WORKER_IDLE = 12;
  static final int WORKER_BUSY = 13;
  static final int POOL_SIZE = 14;
  static final int BLOCK_BEGIN = 15;
  static final int BLOCK_END = 16;
  static final int WAKE = 17;
  static final int METHOD_ENTER = 18;
  static final int METHOD_EXIT = 19;
  static final int LOCK_ACQUIRE = 25;  // and, in each pair, what readers do behind it
  static final int LOCK_REQUEST = 27;
  static final int LOCK_ACQUIRED = 28;
  static final int LOCK_RELEASE = 31;
  static final int LOCK_BUSY = 32;
  static final int SYNC_WAIT = 33;
  static final int SYNC_WOKEN = 34;
  static final int SYNC_SIGNAL = 35;
  static final int SYNC_BROADCAST = 36;
  static final int TASK_HANDED = 41;
  static final int POOL_CLOSE = 42;
  static final int POOL_CLOSED = 43;
  static final int PERMIT_TAKE = 44;
  static final int PERMIT_GIVE = 45;
  static final int BLOCKED_ON = 48;
  static final int HOLDER_AT = 49;
  static final int SECTION_TAINT = 50;
  static final int FLOW_INTO = 51;
  static final int FLOW_FROM = 52;
  static final int RECEIVE = 53;
  static final int SEND = 54;
  static final int ENDPOINT = 55;
  static final int SWITCH_THREAD = 0x100;

  static final int NONE = -1;

  // An event's time, if it is not given. ALSO is earlier than any.
  private static final long NOW = Long.MIN_VALUE;
  private static final long ALSO = Long.MIN_VALUE + 1;

  // Fields that the agent adds. Ids are stored plus one, so that 0 means "not known yet" (and a stored -1: none).
  static final long BUFFER = U.objectFieldOffset(Thread.class, "contrafactBuffer");  // address; -1 after the end
  static final long THREAD = U.objectFieldOffset(Thread.class, "contrafactThread");  // logical ThreadId + 1
  static final long QUIET = U.objectFieldOffset(Thread.class, "contrafactQuiet");    // open waits, idles, blocks; and REQUESTING
  static final long STOPPED = U.objectFieldOffset(Thread.class, "contrafactStopped");  // when the thread last blocked while QUIET
  static final int REQUESTING = 1 << 16;  // the thread asks for a lock, and the event of that is yet to come
  static final long STOPPED_AT = U.objectFieldOffset(Thread.class, "contrafactStoppedAt");  // of a virtual thread: its context then
  static final long UNMOUNTED = U.objectFieldOffset(Thread.class, "contrafactUnmounted");  // when it left its carrier last
  static final long LAST_TIME = U.objectFieldOffset(Thread.class, "contrafactLastTime");  // in the buffer before; 0: there was none
  static final long NEXT_ID = U.objectFieldOffset(Thread.class, "contrafactNextId");
  static final long LIMIT_ID = U.objectFieldOffset(Thread.class, "contrafactLimitId");
  static final long FLAGS = U.objectFieldOffset(Thread.class, "contrafactFlags");
  static final long THREAD_TASK = U.objectFieldOffset(Thread.class, "contrafactTask");
  static final long THREAD_POOL_ID = U.objectFieldOffset(Thread.class, "contrafactPool");

  static final int FLAG_UNCAUGHT = 1;     // an exception ended the thread
  static final int FLAG_RESUBMITTING = 2;  // the next execute() is of a task that has its spawn already

  static final int FLAG_TIMED_OUT = 1 << 16;  // the last Object.wait ended because its time was over

  private static final long IDS_AT_A_TIME = 256;
  private static final long NEXT_RANGE = U.allocateMemory(8);

  static {
    U.putLong(NEXT_RANGE, 1);
  }

  private ContrafactEvents() {}

  /** Links the native methods: the JVM's search for them runs Java code, which may be traced. Nulls have no effect. */
  static void prepare() {
    attach(null);
    swap(0);
    context();
    makerContext();
    addVirtualThread(null);
    addPool(null);
    addThreads(null);
    addPermits(Integer.MIN_VALUE);
    body(null, null, null);
    entryPoint(null);
    pinned(NONE, 0);
    nextWaiting(null);
  }

  // Found by the JVM in the agent.
  static native long attach(Thread carrier);
  static native long swap(long owner);
  static native int context();
  static native int makerContext();  // of the frame outside java.util.concurrent that leads here, alone
  static native int addVirtualThread(Thread thread);
  static native int addPool(Object pool);         // what its field holds from then on: the pool's id plus one
  static native int addThreads(String executor);  // id plus one of the pool that stands for an executor's threads
  static native int addPermits(int available);    // id plus one of a semaphore's permits; -1: there are too many semaphores
  static native int body(Class<?> type, String method, String descriptor);
  static native int entryPoint(Object code);  // the method that an executor calls

  static native void pinned(int context, long blockedNs);  // a virtual thread was blocked and kept its carrier

  static native int nextWaiting(Object monitor);  // the thread that has waited longest at it, -1 if none does; it counts no more

  /** The thread whose buffer is written; on JDKs with virtual threads the agent makes it the current carrier. */
  static Thread carrier() {
    return Thread.currentThread();
  }

  /** A fresh task id, from the carrier's range. */
  static int newTask() {
    Thread carrier = carrier();
    int id = U.getInt(carrier, NEXT_ID);
    if (id == U.getInt(carrier, LIMIT_ID)) {
      id = (int) U.getAndAddLong(null, NEXT_RANGE, IDS_AT_A_TIME);
      U.putInt(carrier, LIMIT_ID, id + (int) IDS_AT_A_TIME);
    }
    U.putInt(carrier, NEXT_ID, id + 1);
    return id;
  }

  /** The logical id of a thread that runs or ran; 0 for one that is not known. */
  static int threadId(Thread thread) {
    return U.getInt(thread, THREAD) - 1;
  }

  /** The buffer to write one event of `logical` to, with room for it and in its logical thread; 0 if it is dropped. */
  private static long bufferFor(Thread logical) {
    Thread carrier = carrier();
    long buffer = U.getLong(carrier, BUFFER);
    if (buffer <= 0) {
      buffer = buffer == 0 ? attach(carrier) : 0;
      if (buffer == 0) {
        return 0;
      }
    }
    if (U.getInt(buffer) >= U.getInt(buffer + ContrafactBuffer.CAPACITY)) {
      int times = U.getInt(buffer + ContrafactBuffer.CURSOR_0);
      if (times > 0) {
        U.putLong(carrier, LAST_TIME, U.getLong(U.getLong(buffer + ContrafactBuffer.COLUMN_0) + 8L * (times - 1)));
      }
      buffer = swap(U.getLong(buffer + ContrafactBuffer.OWNER));
      if (buffer == 0) {
        return 0;
      }
      U.putLong(carrier, BUFFER, buffer);
    }
    int id = U.getInt(logical, THREAD) - 1;
    if (id != U.getInt(buffer + ContrafactBuffer.LOGICAL_THREAD)) {
      switchThread(buffer, logical, id);
    }
    return buffer;
  }

  /** The time that an event of `logical` at `time` would have, after which its number is known; 0: it would be dropped. */
  static long eventTime(Thread logical, long time) {
    long buffer = bufferFor(logical);
    if (buffer == 0) {
      return 0;
    }
    int times = U.getInt(buffer + ContrafactBuffer.CURSOR_0);
    return timeOf(buffer, U.getInt(buffer), U.getLong(buffer + ContrafactBuffer.COLUMN_0) + 8L * times, times, time);
  }

  private static void switchThread(long buffer, Thread logical, int id) {
    if (id < 0) {
      id = addVirtualThread(logical);
      U.putInt(logical, THREAD, id + 1);
    }
    int n = U.getInt(buffer);
    int words = U.getInt(buffer + ContrafactBuffer.CURSOR_1);
    U.putShort(U.getLong(buffer + ContrafactBuffer.IDS) + 2L * n, (short) SWITCH_THREAD);
    U.putInt(U.getLong(buffer + ContrafactBuffer.COLUMN_1) + 4L * words, id);
    U.putInt(buffer + ContrafactBuffer.CURSOR_1, words + 1);
    U.putInt(buffer + ContrafactBuffer.LOGICAL_THREAD, id);
    U.putIntRelease(null, buffer, n + 1);
  }

  /**
   * Writes one event. NOW: the time is read last, so that attaching comes before it. ALSO: the event belongs to this
   * thread's event before it, and gets the same time, because reading the clock is most of an event's cost. There is
   * always room for as many operands as any event has.
   */
  private static void write(Thread logical, int kind, long at, int operands, int a, int b, int c, int d) {
    long buffer = bufferFor(logical);
    if (buffer == 0) {
      return;
    }
    int n = U.getInt(buffer);
    int times = U.getInt(buffer + ContrafactBuffer.CURSOR_0);
    int words = U.getInt(buffer + ContrafactBuffer.CURSOR_1);
    long operand = U.getLong(buffer + ContrafactBuffer.COLUMN_1) + 4L * words;
    U.putInt(operand, a);
    U.putInt(operand + 4, b);
    U.putInt(operand + 8, c);
    U.putInt(operand + 12, d);
    U.putInt(buffer + ContrafactBuffer.CURSOR_1, words + operands);
    U.putShort(U.getLong(buffer + ContrafactBuffer.IDS) + 2L * n, (short) kind);
    long time = U.getLong(buffer + ContrafactBuffer.COLUMN_0) + 8L * times;
    U.putLong(time, timeOf(buffer, n, time, times, at));
    U.putInt(buffer + ContrafactBuffer.CURSOR_0, times + 1);
    U.putIntRelease(null, buffer, n + 1);
  }

  /**
   * Between the given time and now the thread may have written another event. Not so where a thread is the buffer's since
   * just now, as virtual threads are that waited: what is before is another thread's.
   */
  private static long timeOf(long buffer, int n, long time, int times, long at) {
    if (at == NOW) {
      return System.nanoTime();
    }
    if (times == 0) {
      long last = U.getLong(carrier(), LAST_TIME);
      return at == ALSO || last == 0 ? System.nanoTime() : Math.max(at, last);
    }
    long ids = U.getLong(buffer + ContrafactBuffer.IDS);
    if (n > 0 && U.getShort(ids + 2L * (n - 1)) == (short) SWITCH_THREAD) {
      return at == ALSO ? System.nanoTime() : at;
    }
    return Math.max(at, U.getLong(time - 8));
  }

  static void emit(Thread logical, int kind) {
    write(logical, kind, NOW, 0, 0, 0, 0, 0);
  }

  static void emit(Thread logical, int kind, int a) {
    write(logical, kind, NOW, 1, a, 0, 0, 0);
  }

  static void emit(Thread logical, int kind, int a, int b) {
    write(logical, kind, NOW, 2, a, b, 0, 0);
  }

  static void emit(Thread logical, int kind, int a, int b, int c) {
    write(logical, kind, NOW, 3, a, b, c, 0);
  }

  static void emit(Thread logical, int kind, int a, int b, int c, int d) {
    write(logical, kind, NOW, 4, a, b, c, d);
  }

  /** As it was at this time, or at that of the buffer's event before it if that is later. */
  static void emitAt(Thread logical, int kind, long time, int a, int b, int c, int d) {
    write(logical, kind, time, 4, a, b, c, d);
  }

  static void emitAt(Thread logical, int kind, long time, int a) {
    write(logical, kind, time, 1, a, 0, 0, 0);
  }

  static void emitAt(Thread logical, int kind, long time, int a, int b) {
    write(logical, kind, time, 2, a, b, 0, 0);
  }

  static void emitAlso(Thread logical, int kind, int a) {
    write(logical, kind, ALSO, 1, a, 0, 0, 0);
  }

  static void emitAlso(Thread logical, int kind, int a, int b) {
    write(logical, kind, ALSO, 2, a, b, 0, 0);
  }

  static void emitAlso(Thread logical, int kind, int a, int b, int c) {
    write(logical, kind, ALSO, 3, a, b, c, 0);
  }
}
