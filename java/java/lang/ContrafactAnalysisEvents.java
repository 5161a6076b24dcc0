package java.lang;

import static java.lang.ContrafactAnalysis.CLASS_ID;
import static java.lang.ContrafactAnalysis.CONTEXTS;
import static java.lang.ContrafactAnalysis.CURRENT;
import static java.lang.ContrafactAnalysis.DIRECT;
import static java.lang.ContrafactAnalysis.DIRECT_CONTEXTS;
import static java.lang.ContrafactAnalysis.NEXT;
import static java.lang.ContrafactAnalysis.U;
import static java.lang.ContrafactAnalysis.carrier;
import static java.lang.ContrafactAnalysis.emit;
import static java.lang.ContrafactAnalysis.mode;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** The rest of ContrafactAnalysis: allocations, events' words (src/online/event_words.h), and code that seldom runs. */
final class ContrafactAnalysisEvents {
  // Kinds, where they are in an event's first word. A call's is 0.
  static final long EXIT = 1L << 61;
  private static final long ALLOCATE = 2L << 61;
  private static final long ALLOCATE_ARRAY = 3L << 61;
  static final long CONTEXT_CALL = 4L << 61;
  private static final long CONTEXT_ALLOCATE = 5L << 61;
  private static final long CONTEXT_ALLOCATE_ARRAY = 6L << 61;
  private static final long NOT_ZERO = 1L << 32;

  private ContrafactAnalysisEvents() {}

  /** Links the native methods: the JVM's search for them runs Java code, which has probes. Nulls have no effect. Yields `mode`. */
  static int prepare() {
    refill(null);
    describe(null, null);
    return modeOf();
  }

  // Found by the JVM in the agent.
  private static native int modeOf();
  /** Gives the carrier, whose buffer has no room, another one, and its first one too. False if there is none: the event is lost. */
  private static native boolean refill(Thread carrier);
  /** The id of a class, which is kept in its field from then on; `example` is an object of it, if there is one. */
  private static native int describe(Class<?> type, Object example);

  /** Of ContrafactDirect and ContrafactDirectContexts: the carrier keeps it where the next word would go. 0: there is none. */
  @ForceInline
  static long shard() {
    Thread carrier = carrier();
    long shard = U.getLong(carrier, NEXT);
    return shard != 0 || !refill(carrier) ? shard : U.getLong(carrier, NEXT);
  }

  @DontInline
  static void emitIntoNext(long word) {
    if (refill(carrier())) {
      emit(word);
    }
  }

  @DontInline
  static void emitIntoNext(long word, long more) {
    if (refill(carrier())) {
      emit(word, more);
    }
  }

  /** The first word is written last. */
  private static void emit3(long word, long second, long third) {
    Thread carrier = carrier();
    if (U.getLong(carrier, NEXT) >= U.getLong(carrier, ContrafactAnalysis.END) && !refill(carrier)) {
      return;
    }
    long next = U.getLong(carrier, NEXT);
    U.putLong(null, next + 16, third);
    U.putLong(null, next + 8, second);
    U.putLong(null, next, word);
    U.putLong(carrier, NEXT, next + 24);
  }

  @DontInline
  static int describeFirst(Class<?> type, Object example) {
    return describe(type, example);
  }

  @ForceInline
  private static long context() {
    return U.getLong(Thread.currentThread(), CURRENT) | 1;
  }

  @ForceInline
  static void allocateOf(int type, int method) {
    if (mode == DIRECT) {
      ContrafactDirect.allocate(method, type, 0);
    } else if (mode == CONTEXTS) {
      emit(CONTEXT_ALLOCATE | (long) type << 32, context());
    } else if (mode == DIRECT_CONTEXTS) {
      ContrafactDirectContexts.allocate(context(), type, 0);
    } else {
      emit(ALLOCATE | (long) type << 32 | method);
    }
  }

  @ForceInline
  static void allocateArray(Class<?> type, int length, int method) {
    int id = U.getInt(type, CLASS_ID);
    if (id == 0) {
      id = describeFirst(type, null);
    }
    if (mode == DIRECT) {
      ContrafactDirect.allocate(method, id, length);
    } else if (mode == CONTEXTS) {
      emit3(CONTEXT_ALLOCATE_ARRAY | (long) id << 32, context(), NOT_ZERO | length);
    } else if (mode == DIRECT_CONTEXTS) {
      ContrafactDirectContexts.allocate(context(), id, length);
    } else {
      emit(ALLOCATE_ARRAY | (long) id << 32 | method, NOT_ZERO | length);
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
