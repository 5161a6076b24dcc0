package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactSetLog.STATE;
import static java.lang.ContrafactTaints.*;

/**
 * Information flow between critical sections: the tracker of src/classfile/flows.h (FlowProf, section 5). A set of taints is an int
 * (ContrafactTaints). What a thread is about, from the entry of its outermost section to the exit, stands in its block, memory that
 * belongs to its log (src/agent_jvm/flow.h). No initialiser: its callers run in the earliest part of the start-up.
 */
public final class ContrafactFlow {
  static boolean wanted;  // set once, before the first thread is observed

  // The block: all zero where nothing is known.
  private static final int CALL = 0;      // of the call that was just prepared: the method,
  private static final int PENDING = 4;   // whether nobody has taken its arguments yet,
  private static final int UNION = 8;     // all taints of its arguments,
  private static final int EXTRA = 12;    // and of what it will read that is not tracked
  private static final int RETURNED_BY = 16;
  private static final int RETURNED = 20;
  private static final int THROWN = 24;
  private static final int DEPTH = 28;     // tracked sections
  private static final int ENDED = 32;     // of the section that ended last: its taint,
  private static final int DIRECT = 36;    // and what is known to have gone out of it
  private static final int INDIRECT = 40;
  private static final int READ = 44;      // the last set that was read outside
  private static final int FROM = 48;      // where parameter() finds them: one of the following
  private static final int BEFORE_WAIT = 52;  // the taint of a section that ended because the thread waits
  private static final int ARGUMENTS = 64;
  private static final int SECTIONS = 128;  // by depth: TAINT, OUTPUT, CONTROL
  private static final int SECTION_BYTES = 16;
  private static final int OUTPUT = 4;
  private static final int CONTROL = 8;
  private static final int ARGUMENTS_MAX = 16;
  private static final int SECTIONS_MAX = 16;

  private static final int NOWHERE = 0;
  private static final int EACH = 1;
  private static final int ALL = 2;

  // format::FlowKind
  private static final int BY_VALUE = 0;
  private static final int BY_MEMORY = 1;
  private static final int BY_CONTROL = 2;

  private ContrafactFlow() {}

  /** Of the thread that is observed; else 0. */
  private static long block() {
    return ContrafactSets.observers == 0 ? 0 : blockOf(Thread.currentThread());
  }

  private static long blockOf(Thread thread) {
    long log = U.getLong(thread, STATE);
    return log == 0 ? 0 : U.getLong(Math.abs(log) + ContrafactSetLog.FLOW);
  }

  /** Also behind the end of its last section. */
  private static long lastBlockOf(Thread thread) {
    long log = U.getLong(thread, STATE);
    if (log == 0) {
      log = U.getLong(thread, ContrafactSetLog.KEPT);
    }
    return log == 0 ? 0 : U.getLong(Math.abs(log) + ContrafactSetLog.FLOW);
  }

  public static int joined(int a, int b) {
    return a == b || b == 0 ? a : a == 0 ? b : union(a, b);
  }

  // ---- memory

  public static int field(Object object, int number) {
    if (object == null || ContrafactOutside.observers == 0) {
      return 0;
    }
    int taint = shadowOf(object, number);
    return taint != 0 && isOutside() ? outside(taint) : taint;
  }

  public static int staticField(int number) {
    int taint = ContrafactOutside.observers == 0 ? 0 : shadowOfStatic(number);
    return taint != 0 && isOutside() ? outside(taint) : taint;
  }

  public static int element(Object array, int index) {
    if (array == null || ContrafactOutside.observers == 0) {
      return 0;
    }
    int taint = shadowOfElement(array, index);
    return taint != 0 && isOutside() ? outside(taint) : taint;
  }

  public static void setField(Object object, int number, int taint) {
    if (object != null && (taint | ContrafactOutside.observers) != 0) {
      setShadow(object, number, taint);
    }
  }

  public static void setStaticField(int number, int taint) {
    if ((taint | ContrafactOutside.observers) != 0) {
      setShadowOfStatic(number, taint);
    }
  }

  public static void setElement(Object array, int index, int taint) {
    if (array != null && (taint | ContrafactOutside.observers) != 0) {
      setShadowOfElement(array, index, taint);
    }
  }

  private static boolean isOutside() {
    return U.getLong(Thread.currentThread(), STATE) == 0;
  }

  private static int outside(int taint) {
    readOutside(taint);
    return 0;
  }

  // ---- calls

  public static void entered(int method) {
    long block = block();
    if (block != 0) {
      boolean pending = U.getInt(block + PENDING) != 0;
      U.putInt(block + FROM, !pending ? NOWHERE : U.getInt(block + CALL) == method ? EACH : ALL);
      U.putInt(block + PENDING, 0);
    }
  }

  public static int parameter(int index) {
    long block = block();
    int from = block == 0 ? NOWHERE : U.getInt(block + FROM);
    if (from == NOWHERE) {
      return 0;
    }
    return from == EACH && index < ARGUMENTS_MAX ? U.getInt(block + ARGUMENTS + 4L * index) : U.getInt(block + UNION);
  }

  public static void calling(int method) {
    long block = block();
    if (block != 0) {
      U.putInt(block + CALL, method);
      U.putInt(block + PENDING, 1);
      U.putLong(block + UNION, 0);  // and EXTRA
      U.putLong(block + RETURNED_BY, 0);
      for (int i = 0; i < ARGUMENTS_MAX; i += 2) {
        U.putLong(block + ARGUMENTS + 4L * i, 0);
      }
    }
  }

  public static void argument(int index, int taint) {
    long block = taint == 0 ? 0 : block();
    if (block != 0) {
      if (index < ARGUMENTS_MAX) {
        U.putInt(block + ARGUMENTS + 4L * index, taint);
      }
      U.putInt(block + UNION, joined(U.getInt(block + UNION), taint));
    }
  }

  /** Of code between that is not tracked, everything that went in may come out. */
  public static int called(int method, int arguments) {
    long block = block();
    if (block == 0) {
      return 0;
    }
    int by = U.getInt(block + RETURNED_BY);
    int returned = U.getInt(block + RETURNED);
    int extra = U.getInt(block + EXTRA);
    U.putInt(block + PENDING, 0);
    U.putLong(block + UNION, 0);
    U.putLong(block + RETURNED_BY, 0);
    if (by == method) {
      return returned;
    }
    arguments = joined(arguments, extra);
    return by == 0 ? arguments : joined(returned, arguments);
  }

  public static void returning(int method, int taint) {
    long block = block();
    if (block != 0) {
      U.putInt(block + RETURNED_BY, method);
      U.putInt(block + RETURNED, taint);
    }
  }

  public static void throwing(int taint) {
    long block = block();
    if (block != 0) {
      U.putInt(block + THROWN, taint);
    }
  }

  public static int caught() {
    long block = block();
    if (block == 0) {
      return 0;
    }
    int thrown = U.getInt(block + THROWN);
    U.putInt(block + THROWN, 0);
    U.putInt(block + PENDING, 0);
    return thrown;
  }

  public static void control(int taint) {
    long block = taint == 0 ? 0 : block();
    int depth = block == 0 ? 0 : Math.min(U.getInt(block + DEPTH), SECTIONS_MAX);
    if (depth > 0) {
      long control = section(block, depth) + CONTROL;
      U.putInt(control, joined(U.getInt(control), taint));
    }
  }

  // ---- calls whose code is not tracked, but what it does is known

  /** Elements are copied from one array to another. */
  public static void copying(Object from, int at, Object to, int begin, int count) {
    if (from != null && to != null && ContrafactOutside.observers != 0) {
      copyShadows(from, at, to, begin, count);
    }
  }

  /** A new array has elements of another one, from index `at` on. */
  public static void copied(Object to, Object from, int at) {
    if (from != null && to != null && to.getClass().isArray() && from.getClass().isArray() && ContrafactOutside.observers != 0) {
      copyShadows(from, at, to, 0, Math.min(lengthOf(to), lengthOf(from) - at));
    }
  }

  /** What is called reads elements of an array. */
  public static void readingAll(Object array) {
    long block = array == null || !array.getClass().isArray() || ContrafactOutside.observers == 0 ? 0 : block();
    if (block != 0) {
      U.putInt(block + EXTRA, joined(U.getInt(block + EXTRA), shadowOfAll(array)));
    }
  }

  /** It has made a string of what a builder holds. */
  public static void readingBuilder(Object builder) {
    readingAll(((AbstractStringBuilder) builder).value);
  }

  /** It writes some of them, with what it got. */
  public static void writingAll(Object array) {
    long block = array == null || !array.getClass().isArray() ? 0 : block();
    if (block != 0) {
      int taint = joined(U.getInt(block + UNION), U.getInt(block + EXTRA));
      if (taint != 0) {
        addToAll(array, taint);
      }
    }
  }

  /** An access of Unsafe's: the argument `value` is written, or added; negative: none is. */
  public static void atOffset(Object object, long offset, boolean reads, boolean adds, int value) {
    long block = object == null ? 0 : block();
    if (block == 0) {
      return;
    }
    Class<?> type = object.getClass();
    boolean isArray = type.isArray();
    int index = 0;
    int number = 0;
    if (isArray) {
      index = (int) ((offset - ContrafactSetLog.fieldAt(object, type, ContrafactSetLog.BEGIN)) / U.arrayIndexScale(type));
    } else {
      number = ContrafactSetLog.fieldAt(object, type, offset);
      if (number == 0) {
        return;
      }
    }
    int before = ContrafactOutside.observers == 0 ? 0 : isArray ? shadowOfElement(object, index) : shadowOf(object, number);
    if (value >= 0) {
      int taint = U.getInt(block + ARGUMENTS + 4L * Math.min(value, ARGUMENTS_MAX - 1));
      if (adds) {
        taint = joined(taint, before);
      }
      if (isArray) {
        setElement(object, index, taint);
      } else {
        setField(object, number, taint);
      }
    }
    U.putInt(block + RETURNED_BY, U.getInt(block + CALL));
    U.putInt(block + RETURNED, reads ? joined(before, U.getInt(block + ARGUMENTS + 4)) : 0);
  }

  // ---- sections

  private static long section(long block, int depth) {
    return block + SECTIONS + (long) SECTION_BYTES * (depth - 1);
  }

  public static int depth() {
    long block = block();
    return block == 0 ? 0 : U.getInt(block + DEPTH);
  }

  public static int inputs() {
    long block = block();
    int depth = block == 0 ? 0 : U.getInt(block + DEPTH);
    return depth == 0 || depth > SECTIONS_MAX ? 0 : -U.getInt(section(block, depth));
  }

  /** Something is live out of the section that ended last. */
  public static void output(int taint) {
    if (taint == 0) {
      return;
    }
    Thread thread = Thread.currentThread();
    long block = lastBlockOf(thread);
    if (block != 0 && U.getInt(block + ENDED) != 0) {
      int known = U.getInt(block + DIRECT);
      int now = joined(known, taint);
      if (now != known) {
        U.putInt(block + DIRECT, now);
        tell(thread, U.getInt(block + ENDED), taint, known, BY_VALUE);
      }
    }
  }

  /** Something that will be live out of the section that the thread is in. */
  public static void result(int taint) {
    long block = taint == 0 ? 0 : block();
    int depth = block == 0 ? 0 : U.getInt(block + DEPTH);
    if (depth > 0 && depth <= SECTIONS_MAX) {
      long output = section(block, depth) + OUTPUT;
      U.putInt(output, joined(U.getInt(output), taint));
    }
  }

  /** The thread has taken a lock, which the event before says. */
  static void begins(Thread thread, boolean isOutermost) {
    long block = blockOf(thread);
    if (block == 0) {
      return;
    }
    int depth = isOutermost ? 1 : U.getInt(block + DEPTH) + 1;
    U.putInt(block + DEPTH, depth);
    if (depth > SECTIONS_MAX) {
      return;
    }
    int taint = newTaint();
    long section = section(block, depth);
    U.putInt(section, taint);
    U.putInt(section + OUTPUT, 0);
    U.putInt(section + CONTROL, 0);
    U.putInt(block + READ, 0);
    int before = U.getInt(block + BEFORE_WAIT);
    if (before != 0) {
      U.putInt(block + BEFORE_WAIT, 0);
      stand(taint, before);
    }
    if (taint != 0) {
      emitAlso(thread, SECTION_TAINT, taint);
    }
  }

  /** It has given one back. */
  static void ends(Thread thread) {
    long block = blockOf(thread);
    int depth = block == 0 ? 0 : U.getInt(block + DEPTH);
    if (depth == 0) {
      return;
    }
    U.putInt(block + DEPTH, depth - 1);
    if (depth > SECTIONS_MAX) {
      return;
    }
    long section = section(block, depth);
    int taint = U.getInt(section);
    int output = U.getInt(section + OUTPUT);
    int control = U.getInt(section + CONTROL);
    U.putInt(block + ENDED, taint);
    U.putInt(block + DIRECT, output);
    U.putInt(block + INDIRECT, 0);
    tell(thread, taint, output, 0, BY_VALUE);
    tell(thread, taint, control, output, BY_CONTROL);
    if (depth > 1) {
      long outer = section(block, depth - 1) + CONTROL;
      U.putInt(outer, joined(U.getInt(outer), control));
    }
  }

  /** The thread waits at its innermost lock: what went into this section goes into the one that begins when it goes on. */
  static void waits(Thread thread) {
    long block = blockOf(thread);
    int depth = block == 0 ? 0 : U.getInt(block + DEPTH);
    if (depth > 0 && depth <= SECTIONS_MAX) {
      U.putInt(block + BEFORE_WAIT, U.getInt(section(block, depth)));
    }
  }

  /** Code that is in no section has read a field or an element with these taints. */
  static void readOutside(int set) {
    if (!ContrafactProbes.live) {
      return;
    }
    Thread thread = Thread.currentThread();
    long block = lastBlockOf(thread);
    if (block == 0) {
      if (U.getInt(thread, READ_OUTSIDE) != set) {
        U.putInt(thread, READ_OUTSIDE, set);
        tell(thread, NONE, set, 0, BY_MEMORY);
      }
    } else if (U.getInt(block + READ) != set) {
      U.putInt(block + READ, set);
      int ended = U.getInt(block + ENDED);
      if (ended != 0 && contains(set, ended)) {
        int known = U.getInt(block + INDIRECT);
        U.putInt(block + INDIRECT, joined(known, set));
        tell(thread, ended, set, known, BY_MEMORY);
      } else {
        tell(thread, NONE, set, 0, BY_MEMORY);
      }
    }
  }

  private static void tell(Thread thread, int into, int set, int known, int kind) {
    boolean begun = false;
    for (int i = 0, n = count(set); i < n; i++) {
      int source = standsFor(taint(set, i));
      if (source != into && !contains(known, source)) {
        if (!begun) {
          emit(thread, FLOW_INTO, into);
          begun = true;
        }
        emitAlso(thread, FLOW_FROM, source, kind);
      }
    }
  }
}
