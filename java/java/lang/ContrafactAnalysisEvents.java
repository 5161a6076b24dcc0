package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Writes an analysis's events into the current carrier's off-heap buffer (include/contrafact/deferred_buffer.h), and keeps
 * the shadow stack: a field of Thread names the current method, and each invocation keeps its caller in a local variable
 * of its own, so that an exception cannot leave it wrong. Initialised only after the virtual machine is: it uses Unsafe.
 */
final class ContrafactAnalysisEvents {
  private static final Unsafe U = Unsafe.getUnsafe();

  // EventCalls in src/online/events.h. The order is the contract.
  private static final short CALL = 0;
  private static final short EXIT = 1;
  private static final short ALLOCATE = 2;
  private static final short ALLOCATE_ARRAY = 3;

  // Fields that the agent adds.
  private static final long BUFFER = U.objectFieldOffset(Thread.class, "contrafactBuffer");  // address; -1 after the end
  private static final long METHOD = U.objectFieldOffset(Thread.class, "contrafactMethod");  // id; 0: none yet
  private static final long CLASS_ID = U.objectFieldOffset(Class.class, "contrafactClass");  // 0: not known yet

  private ContrafactAnalysisEvents() {}

  /** Links the native methods: the JVM's search for them runs Java code, which has probes. Nulls have no effect. */
  static void prepare() {
    attach(null);
    swap(0);
    describe(null, null);
    ContrafactDirect.prepare();
  }

  // Found by the JVM in the agent.
  private static native long attach(Thread carrier);
  private static native long swap(long owner);
  /** The id of a class, which is kept in its field from then on; `example` is an object of it, if there is one. */
  private static native int describe(Class<?> type, Object example);

  /** The thread whose buffer is written; on JDKs with virtual threads the agent makes it the current carrier. */
  @ForceInline
  private static Thread carrier() {
    return Thread.currentThread();
  }

  /** Of ContrafactDirect: the carrier keeps it where it would have a buffer. 0: the thread has ended. */
  @ForceInline
  static long shard() {
    Thread carrier = carrier();
    long shard = U.getLong(carrier, BUFFER);
    return shard > 0 ? shard : shard == 0 ? attach(carrier) : 0;
  }

  @ForceInline
  private static boolean hasRoom(long buffer) {
    return buffer > 0 && U.getInt(buffer) < U.getInt(buffer + ContrafactBuffer.CAPACITY);
  }

  /** Another buffer for the current carrier, whose own has no room; 0 if the event is lost. */
  private static long refill() {
    Thread carrier = carrier();
    long buffer = U.getLong(carrier, BUFFER);
    if (buffer == 0) {
      buffer = attach(carrier);
    }
    if (buffer <= 0 || hasRoom(buffer)) {
      return Math.max(buffer, 0);
    }
    buffer = swap(U.getLong(buffer + ContrafactBuffer.OWNER));
    if (buffer != 0) {
      U.putLong(carrier, BUFFER, buffer);
    }
    return buffer;
  }

  /**
   * Every event has one argument of 64 bits, of two halves, in column 0: the number of events is where the next one goes. It
   * is in the code of all that is profiled: what seldom happens is kept out of it, and it is one method, for each one that is
   * inlined costs the compilers time.
   */
  @ForceInline
  private static void emit(short kind, int upper, int lower) {
    long buffer = U.getLong(carrier(), BUFFER);
    if (buffer > 0) {
      int n = U.getInt(buffer);
      if (n < U.getInt(buffer + ContrafactBuffer.CAPACITY)) {
        U.putShort(U.getLong(buffer + ContrafactBuffer.IDS) + 2L * n, kind);
        U.putLong(U.getLong(buffer + ContrafactBuffer.COLUMN_0) + 8L * n, (long) upper << 32 | lower);
        U.putIntRelease(null, buffer, n + 1);
        return;
      }
    }
    emitIntoNext(kind, (long) upper << 32 | lower);
  }

  @DontInline
  private static void emitIntoNext(short kind, long argument) {
    long buffer = refill();
    if (buffer != 0) {
      append(buffer, kind, argument);
    }
  }

  @ForceInline
  private static void append(long buffer, short kind, long argument) {
    long n = U.getInt(buffer);
    U.putShort(U.getLong(buffer + ContrafactBuffer.IDS) + 2 * n, kind);
    U.putLong(U.getLong(buffer + ContrafactBuffer.COLUMN_0) + 8 * n, argument);
    U.putIntRelease(null, buffer, (int) n + 1);
  }

  /** The field is set last: if the stack overflows in here, the method has not begun. */
  @ForceInline
  static int enter(int method) {
    Thread thread = Thread.currentThread();
    int caller = U.getInt(thread, METHOD);
    if (ContrafactDirect.ON) {
      ContrafactDirect.call(caller, method);
    } else {
      emit(CALL, caller, method);
    }
    U.putInt(thread, METHOD, method);
    return caller;
  }

  @ForceInline
  static void exit(int caller) {
    U.putInt(Thread.currentThread(), METHOD, caller);
  }

  static void exit(int caller, int method, int thrown) {
    U.putInt(Thread.currentThread(), METHOD, caller);
    emit(EXIT, thrown, method);
  }

  @DontInline
  private static int describeFirst(Class<?> type, Object example) {
    return describe(type, example);
  }

  @ForceInline
  static void allocate(Class<?> type, int method) {
    int id = U.getInt(type, CLASS_ID);
    allocateOf(id != 0 ? id : describeFirst(type, null), method);
  }

  @ForceInline
  private static void allocateOf(int type, int method) {
    if (ContrafactDirect.ON) {
      ContrafactDirect.allocate(method, type, 0);
    } else {
      emit(ALLOCATE, type, method);
    }
  }

  @ForceInline
  static void allocateArray(Class<?> type, int length, int method) {
    int id = U.getInt(type, CLASS_ID);
    if (id == 0) {
      id = describeFirst(type, null);
    }
    if (ContrafactDirect.ON) {
      ContrafactDirect.allocate(method, id, length);
    } else {
      long buffer = U.getLong(carrier(), BUFFER);
      if (hasRoom(buffer)) {
        appendArray(buffer, (long) id << 32 | method, length);
      } else {
        emitArrayIntoNext((long) id << 32 | method, length);
      }
    }
  }

  @DontInline
  private static void emitArrayIntoNext(long argument, int length) {
    long buffer = refill();
    if (buffer != 0) {
      appendArray(buffer, argument, length);
    }
  }

  /** The length is in column 1, which only arrays have. */
  @ForceInline
  private static void appendArray(long buffer, long argument, int length) {
    int cursor = U.getInt(buffer + ContrafactBuffer.CURSOR_1);
    U.putInt(U.getLong(buffer + ContrafactBuffer.COLUMN_1) + 4L * cursor, length);
    U.putInt(buffer + ContrafactBuffer.CURSOR_1, cursor + 1);
    append(buffer, ALLOCATE_ARRAY, argument);
  }

  static void allocateArrays(Object array, int dimensions, int method) {
    int length = lengthOf(array);
    allocateArray(array.getClass(), length, method);
    if (dimensions > 1) {
      for (Object inner : (Object[]) array) {
        allocateArrays(inner, dimensions - 1, method);
      }
    }
  }

  static void allocateObject(Object made, int method) {
    Class<?> type = made.getClass();
    int length = lengthOf(made);
    if (length >= 0) {
      allocateArray(type, length, method);
      return;
    }
    int id = U.getInt(type, CLASS_ID);
    allocateOf(id != 0 ? id : describeFirst(type, made), method);
  }

  /** -1: no array. Not java.lang.reflect.Array's, nor Class's methods: they may have probes. */
  private static int lengthOf(Object array) {
    if (array instanceof Object[] a) {
      return a.length;
    } else if (array instanceof byte[] a) {
      return a.length;
    } else if (array instanceof int[] a) {
      return a.length;
    } else if (array instanceof char[] a) {
      return a.length;
    } else if (array instanceof long[] a) {
      return a.length;
    } else if (array instanceof double[] a) {
      return a.length;
    } else if (array instanceof float[] a) {
      return a.length;
    } else if (array instanceof short[] a) {
      return a.length;
    }
    return array instanceof boolean[] a ? a.length : -1;
  }
}
