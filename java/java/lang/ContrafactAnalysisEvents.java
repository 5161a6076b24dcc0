package java.lang;

import jdk.internal.misc.Unsafe;

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
  }

  // Found by the JVM in the agent.
  private static native long attach(Thread carrier);
  private static native long swap(long owner);
  /** The id of a class, which is kept in its field from then on; `example` is an object of it, if there is one. */
  private static native int describe(Class<?> type, Object example);

  /** The thread whose buffer is written; on JDKs with virtual threads the agent makes it the current carrier. */
  private static Thread carrier() {
    return Thread.currentThread();
  }

  /** The current carrier's buffer, with room for one event; 0 if the event is lost. */
  private static long buffer() {
    Thread carrier = carrier();
    long buffer = U.getLong(carrier, BUFFER);
    if (buffer <= 0) {
      buffer = buffer == 0 ? attach(carrier) : 0;
      if (buffer == 0) {
        return 0;
      }
    }
    if (U.getInt(buffer) >= U.getInt(buffer + 4)) {
      buffer = swap(U.getLong(buffer + 88));
      if (buffer == 0) {
        return 0;
      }
      U.putLong(carrier, BUFFER, buffer);
    }
    return buffer;
  }

  /** Where the event's arguments go; `commit` follows. */
  private static long begin(long buffer, short kind) {
    U.putShort(U.getLong(buffer + 32) + 2L * U.getInt(buffer), kind);
    return U.getLong(buffer + 40) + 4L * U.getInt(buffer + 8);
  }

  private static void commit(long buffer, int arguments) {
    U.putInt(buffer + 8, U.getInt(buffer + 8) + arguments);
    U.putIntRelease(null, buffer, U.getInt(buffer) + 1);
  }

  private static void emit(short kind, int a, int b) {
    long buffer = buffer();
    if (buffer != 0) {
      long arguments = begin(buffer, kind);
      U.putInt(arguments, a);
      U.putInt(arguments + 4, b);
      commit(buffer, 2);
    }
  }

  /** The field is set last: if the stack overflows in here, the method has not begun. */
  static int enter(int method) {
    Thread thread = Thread.currentThread();
    int caller = U.getInt(thread, METHOD);
    emit(CALL, caller, method);
    U.putInt(thread, METHOD, method);
    return caller;
  }

  static void exit(int caller) {
    U.putInt(Thread.currentThread(), METHOD, caller);
  }

  static void exit(int caller, int method, int thrown) {
    U.putInt(Thread.currentThread(), METHOD, caller);
    emit(EXIT, method, thrown);
  }

  static void allocate(Class<?> type, int method) {
    int id = U.getInt(type, CLASS_ID);
    if (id == 0) {
      id = describe(type, null);
    }
    emit(ALLOCATE, method, id);
  }

  static void allocateArray(Class<?> type, int length, int method) {
    int id = U.getInt(type, CLASS_ID);
    if (id == 0) {
      id = describe(type, null);
    }
    long buffer = buffer();
    if (buffer != 0) {
      long arguments = begin(buffer, ALLOCATE_ARRAY);
      U.putInt(arguments, method);
      U.putInt(arguments + 4, id);
      U.putInt(arguments + 8, length);
      commit(buffer, 3);
    }
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
    if (id == 0) {
      id = describe(type, made);
    }
    emit(ALLOCATE, method, id);
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
