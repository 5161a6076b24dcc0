package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The injected code calls this class while the agent feeds an analysis (src/agent_jvm/analysis_probes.cc). All is inert
 * until the agent sets `live`; the class has no initialiser, since its callers run in the earliest part of the
 * start-up.
 *
 * Events go as words into the current carrier's off-heap buffer (src/online/event_words.h). The shadow stack is a field of
 * Thread that names the current method, and each invocation keeps its caller in a local variable of its own, so that an
 * exception cannot leave it wrong. Where the analysis wants contexts, the field and the variable hold one in place of a
 * method.
 *
 * These methods become part of the code of all that is profiled. Each inlined call costs the compilers time, and every
 * bytecode takes room that they would have for the program's own methods. So these methods are few and short, and code
 * that seldom runs is in ContrafactAnalysisEvents.
 */
public final class ContrafactAnalysis {
  public static boolean live;

  private static final int NOT_COUNTED = -1;
  private static final long NOT_COUNTED_CONTEXT = 0;  // contexts are odd
  private static final long CONTEXT_OUTSIDE = 1;
  private static final long HASH_FACTOR = 0x9E3779B97F4A7C15L;

  // Constants for the compilers, which 0 would not be.
  static final int DEFERRED = 1;
  static final int DIRECT = 2;
  static final int CONTEXTS = 3;
  static final int DIRECT_CONTEXTS = 4;
  @Stable static int mode;
  @Stable static Unsafe U;
  // Fields that the agent adds: of a carrier, where the next word goes, and where its buffer ends (-1 when it has ended); of
  // every thread, the current method's id (0: none yet) or context.
  @Stable static long NEXT;
  @Stable static long END;
  @Stable static long CURRENT;
  @Stable static long CLASS_ID;  // of a class; 0: not known yet

  private ContrafactAnalysis() {}

  /** Initialises the injected classes and links their native methods; throws whatever is wrong with them. */
  static void prepare() {
    U = Unsafe.getUnsafe();
    mode = ContrafactAnalysisEvents.prepare();
    NEXT = U.objectFieldOffset(Thread.class, "contrafactNext");
    END = U.objectFieldOffset(Thread.class, "contrafactEnd");
    CURRENT = U.objectFieldOffset(Thread.class, mode >= CONTEXTS ? "contrafactContext" : "contrafactMethod");
    CLASS_ID = U.objectFieldOffset(Class.class, "contrafactClass");
    if (mode == DIRECT || mode == DIRECT_CONTEXTS) {
      ContrafactDirect.prepare();
    }
    if (mode == DIRECT_CONTEXTS) {
      ContrafactDirectContexts.prepare();
    }
  }

  /** The thread whose buffer is written; on JDKs with virtual threads the agent makes it the current carrier. */
  @ForceInline
  static Thread carrier() {
    return Thread.currentThread();
  }

  @ForceInline
  static void emit(long word) {
    Thread carrier = carrier();
    long next = U.getLong(carrier, NEXT);
    if (next < U.getLong(carrier, END)) {
      U.putLong(null, next, word);
      U.putLong(carrier, NEXT, next + 8);
    } else {
      ContrafactAnalysisEvents.emitIntoNext(word);
    }
  }

  /** The first word is written last: only then the event is there. */
  @ForceInline
  static void emit(long word, long more) {
    Thread carrier = carrier();
    long next = U.getLong(carrier, NEXT);
    if (next < U.getLong(carrier, END)) {
      U.putLong(null, next + 8, more);
      U.putLong(null, next, word);
      U.putLong(carrier, NEXT, next + 16);
    } else {
      ContrafactAnalysisEvents.emitIntoNext(word, more);
    }
  }

  /** A method begins. Returns what its end takes. The field is set last: if the stack overflows in here, it has not begun. */
  @ForceInline
  public static int enter(int method) {
    if (!live) {
      return NOT_COUNTED;
    }
    Thread thread = Thread.currentThread();
    int caller = U.getInt(thread, CURRENT);
    if (mode == DIRECT) {
      ContrafactDirect.call(caller, method);
    } else {
      emit((long) caller << 32 | method);
    }
    U.putInt(thread, CURRENT, method);
    return caller;
  }

  /** A method catches an exception, which may have come from code that could not report its end. */
  @ForceInline
  public static void caught(int caller, int method) {
    if (caller != NOT_COUNTED) {
      U.putInt(Thread.currentThread(), CURRENT, method);
    }
  }

  /** A method ends, by an exception or not. */
  @ForceInline
  public static void exit(int caller) {
    if (caller != NOT_COUNTED) {
      U.putInt(Thread.currentThread(), CURRENT, caller);
    }
  }

  /** As `exit`, for analyses that want to know. */
  public static void exit(int caller, int method, int thrown) {
    if (caller != NOT_COUNTED) {
      U.putInt(Thread.currentThread(), CURRENT, caller);
      emit(ContrafactAnalysisEvents.EXIT | (long) thrown << 32 | method);
    }
  }

  /** context_of in src/online/event_words.h. */
  @ForceInline
  private static long contextOf(long parent, int method) {
    long mixed = (parent ^ (long) method << 1) * HASH_FACTOR;
    return mixed ^ mixed >>> 32 | 1;
  }

  /** The same with contexts. */
  @ForceInline
  public static long enterContext(int method) {
    if (!live) {
      return NOT_COUNTED_CONTEXT;
    }
    Thread thread = Thread.currentThread();
    long parent = U.getLong(thread, CURRENT) | CONTEXT_OUTSIDE;
    long context = contextOf(parent, method);
    if (mode == DIRECT_CONTEXTS) {
      ContrafactDirectContexts.call(parent, context, method);
    } else {
      emit(ContrafactAnalysisEvents.CONTEXT_CALL | method, parent);
    }
    U.putLong(thread, CURRENT, context);
    return parent;
  }

  @ForceInline
  public static void caughtInContext(long parent, int method) {
    if (parent != NOT_COUNTED_CONTEXT) {
      U.putLong(Thread.currentThread(), CURRENT, contextOf(parent, method));
    }
  }

  @ForceInline
  public static void exitContext(long parent) {
    if (parent != NOT_COUNTED_CONTEXT) {
      U.putLong(Thread.currentThread(), CURRENT, parent);
    }
  }

  /** `method` made an object of this class. */
  @ForceInline
  public static void allocated(Class<?> type, int method) {
    if (live) {
      int id = U.getInt(type, CLASS_ID);
      ContrafactAnalysisEvents.allocateOf(id != 0 ? id : ContrafactAnalysisEvents.describeFirst(type, null), method);
    }
  }

  /** `method` made this array. */
  @ForceInline
  public static void allocatedArray(Object array, int length, int method) {
    if (live) {
      ContrafactAnalysisEvents.allocateArray(array.getClass(), length, method);
    }
  }

  /** `method` made this array and the arrays in it, down to `dimensions`. */
  public static void allocatedArrays(Object array, int dimensions, int method) {
    if (live) {
      ContrafactAnalysisEvents.allocateArrays(array, dimensions, method);
    }
  }

  /** `method` got this object from code without bytecodes, which made it: clone, reflection. Null: it made nothing. */
  public static void allocatedByVm(Object made, int method) {
    if (live && made != null) {
      ContrafactAnalysisEvents.allocateObject(made, method);
    }
  }
}
