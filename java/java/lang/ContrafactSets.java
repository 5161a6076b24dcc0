package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactSetLog.*;

/**
 * What threads read and write while they hold a lock of a chosen class: the observer of src/classfile/accesses.h and
 * src/classfile/second_body.h. An object's field is at the place HASH << 32 | 8 * NUMBER, an element of an array at HASH << 32 | 1 << 31 | INDEX, a
 * static field at 8 * NUMBER, where HASH is the identity hash, and NUMBER that of the field (src/agent_jvm/field_numbers.h). No
 * initialiser: its callers run in the earliest part of the start-up.
 */
public final class ContrafactSets {
  /** How many threads are or may soon be observed. */
  public static int observers;

  static boolean wanted;  // set once, before the first thread is observed

  private static final int ADDS = 1 << 31;  // of a field's number
  private static final int READ = 1;
  private static final int WROTE = 2;
  private static final int CHANGED = 2 | 4;
  private static final int ADDED = 1 | 2 | 8;  // nothing else used the value
  private static final int MADE = 1 << 30;
  private static final int OF_FIELD = 0;  // its length
  private static final long ELEMENTS = 1L << 31;

  private ContrafactSets() {}

  public static boolean observing() {
    return U.getLong(Thread.currentThread(), STATE) > 0;
  }

  // ---- what is accessed

  public static void read(Object object, int number) {
    if (observers != 0 && object != null) {
      field(object, number, READ);
    }
  }

  public static void readStatic(int number) {
    if (observers != 0) {
      note(number * 8L, OF_FIELD, READ);
    }
  }

  public static void wrote(Object object, int before, int after, int number) {
    field(object, number, flags(before != after, number));
  }

  public static void wrote(Object object, long before, long after, int number) {
    field(object, number, flags(before != after, number));
  }

  public static void wrote(Object object, float before, float after, int number) {
    field(object, number, flags(Float.floatToRawIntBits(before) != Float.floatToRawIntBits(after), number));
  }

  public static void wrote(Object object, double before, double after, int number) {
    field(object, number, flags(Double.doubleToRawLongBits(before) != Double.doubleToRawLongBits(after), number));
  }

  public static void wrote(Object object, Object before, Object after, int number) {
    field(object, number, flags(before != after, number));
  }

  public static void wroteStatic(int before, int after, int number) {
    staticField(number, flags(before != after, number));
  }

  public static void wroteStatic(long before, long after, int number) {
    staticField(number, flags(before != after, number));
  }

  public static void wroteStatic(float before, float after, int number) {
    staticField(number, flags(Float.floatToRawIntBits(before) != Float.floatToRawIntBits(after), number));
  }

  public static void wroteStatic(double before, double after, int number) {
    staticField(number, flags(Double.doubleToRawLongBits(before) != Double.doubleToRawLongBits(after), number));
  }

  public static void wroteStatic(Object before, Object after, int number) {
    staticField(number, flags(before != after, number));
  }

  private static int flags(boolean changed, int number) {
    return (changed ? CHANGED : WROTE) | (number < 0 ? ADDED : 0);
  }

  private static void field(Object object, int number, int flags) {
    long state = U.getLong(Thread.currentThread(), STATE);
    if (state > 0) {
      log(state, base(object) + 8L * (number & ~ADDS), OF_FIELD, flags);
    }
  }

  private static void staticField(int number, int flags) {
    note(8L * (number & ~ADDS), OF_FIELD, flags);
  }

  private static void note(long place, int length, int flags) {
    long state = U.getLong(Thread.currentThread(), STATE);
    if (state > 0) {
      log(state, place, length, flags);
    }
  }

  private static long base(Object object) {
    return (long) System.identityHashCode(object) << 32;
  }

  // ---- elements of arrays

  public static void readElement(Object array, int index) {
    if (observers != 0 && array != null) {
      element(array, index, READ);
    }
  }

  private static void element(Object array, int index, int flags) {
    long state = U.getLong(Thread.currentThread(), STATE);
    if (state > 0) {
      logElement(state, base(array) + ELEMENTS + index, flags);
    }
  }

  private static boolean has(int length, int index) {
    return index >= 0 && index < length;
  }

  private static int flagsOf(boolean changed, int adds) {
    return (changed ? CHANGED : WROTE) | (adds != 0 ? ADDED : 0);
  }

  public static void storing(int[] array, int index, int value, int adds) {
    if (array != null && has(array.length, index)) {
      element(array, index, flagsOf(array[index] != value, adds));
    }
  }

  public static void storing(long[] array, int index, long value, int adds) {
    if (array != null && has(array.length, index)) {
      element(array, index, flagsOf(array[index] != value, adds));
    }
  }

  public static void storing(float[] array, int index, float value, int adds) {
    if (array != null && has(array.length, index)) {
      boolean changed = Float.floatToRawIntBits(array[index]) != Float.floatToRawIntBits(value);
      element(array, index, flagsOf(changed, adds));
    }
  }

  public static void storing(double[] array, int index, double value, int adds) {
    if (array != null && has(array.length, index)) {
      boolean changed = Double.doubleToRawLongBits(array[index]) != Double.doubleToRawLongBits(value);
      element(array, index, flagsOf(changed, adds));
    }
  }

  public static void storing(Object[] array, int index, Object value, int adds) {
    if (array != null && has(array.length, index)) {
      element(array, index, flagsOf(array[index] != value, adds));
    }
  }

  public static void storing(char[] array, int index, int value, int adds) {
    if (array != null && has(array.length, index)) {
      element(array, index, flagsOf(array[index] != (char) value, adds));
    }
  }

  public static void storing(short[] array, int index, int value, int adds) {
    if (array != null && has(array.length, index)) {
      element(array, index, flagsOf(array[index] != (short) value, adds));
    }
  }

  /** Of bytes or booleans. */
  public static void storing(Object array, int index, int value, int adds) {
    if (array instanceof byte[]) {
      byte[] bytes = (byte[]) array;
      if (has(bytes.length, index)) {
        element(array, index, flagsOf(bytes[index] != (byte) value, adds));
      }
    } else if (array instanceof boolean[]) {
      boolean[] booleans = (boolean[]) array;
      if (has(booleans.length, index)) {
        element(array, index, flagsOf(booleans[index] != ((value & 1) != 0), adds));
      }
    }
  }

  // ---- what has no bytecode, or is compiled as if it had none

  /** An object that nobody else knows yet: it is the section's own until its next lock event. */
  public static void made(Object object) {
    if (observers != 0 && object != null) {
      note(base(object), 1, MADE);
    }
  }

  /** Elements are copied from one array to another. */
  public static void copying(Object from, int at, Object to, int begin, int count) {
    if (observers != 0 && from != null && to != null && count > 0) {
      elements(from, at, count, READ);
      elements(to, begin, count, CHANGED);
    }
  }

  /** The same with offsets of Unsafe's and a count of bytes. */
  public static void copying(Object from, long at, Object to, long begin, long bytes) {
    if (observers != 0 && bytes > 0) {
      atOffsets(from, at, bytes, READ);
      atOffsets(to, begin, bytes, CHANGED);
    }
  }

  /** As many times 1 << `shift` bytes of two arrays. */
  public static void comparing(Object one, long at, Object other, long begin, int count, int shift) {
    if (observers != 0 && count > 0) {
      atOffsets(one, at, (long) count << shift, READ);
      atOffsets(other, begin, (long) count << shift, READ);
    }
  }

  /** Some or all elements of an array are written. */
  public static void writingAll(Object array) {
    if (observers != 0 && array != null && array.getClass().isArray()) {
      elements(array, 0, lengthOf(array), READ | CHANGED);
    }
  }

  public static void writingElement(Object array, int index) {
    if (observers != 0 && array != null) {
      element(array, index, CHANGED);
    }
  }

  /** Some or all elements of an array are read. */
  public static void readingAll(Object array) {
    if (observers != 0 && array != null && array.getClass().isArray()) {
      elements(array, 0, lengthOf(array), READ);
    }
  }

  private static int lengthOf(Object array) {
    return array instanceof Object[] ? ((Object[]) array).length : java.lang.reflect.Array.getLength(array);
  }

  private static void elements(Object array, int at, int count, int flags) {
    if (at >= 0 && count > 0) {
      note(base(array) + ELEMENTS + at, count, flags);
    }
  }

  /** An access of Unsafe's to some bytes; 0: to one element, or a field. */
  public static void atOffset(Object object, long offset, int flags, int bytes) {
    if (observers != 0) {
      atOffsets(object, offset, bytes, flags);
    }
  }

  private static void atOffsets(Object object, long offset, long bytes, int flags) {
    long state = U.getLong(Thread.currentThread(), STATE);
    if (state <= 0) {
      return;
    }
    if (object == null) {  // memory outside of the heap
      miss(state, SYSTEM_CALL);
      return;
    }
    Class<?> type = object.getClass();
    if (type.isArray()) {
      long at = offset - fieldAt(object, type, BEGIN);
      int scale = U.arrayIndexScale(type);
      long first = at / scale, last = (at + Math.max(bytes, 1) - 1) / scale;
      log(state, base(object) + ELEMENTS + first, (int) (last - first) + 1, flags);
    } else {
      int number = fieldAt(object, type, offset);
      if (number == 0) {
        miss(state, SYSTEM_CALL);
      } else {
        log(state, base(object) + 8L * number, OF_FIELD, flags);
      }
    }
  }

  /** An access by reflection. */
  public static void ofField(Object reflected, Object object, int flags) {
    if (observers == 0 || reflected == null || U.getLong(Thread.currentThread(), STATE) <= 0) {
      return;
    }
    java.lang.reflect.Field field = (java.lang.reflect.Field) reflected;
    if (java.lang.reflect.Modifier.isStatic(field.getModifiers())) {
      unknown();
    } else if (object != null && field.getDeclaringClass().isInstance(object)) {  // or else the call throws
      atOffsets(object, offsetOf(field), 0, flags);
    }
  }

  /** Native code runs whose accesses are not known. */
  public static void unknown() {
    if (observers != 0) {
      long state = U.getLong(Thread.currentThread(), STATE);
      if (state > 0) {
        miss(state, SYSTEM_CALL);
      }
    }
  }

  /** A result is asked for that may be computed by another thread meanwhile. */
  public static void awaiting(Object task) {
    if (observers != 0 && task instanceof java.util.concurrent.Future && U.getLong(Thread.currentThread(), STATE) > 0) {
      boolean isOfJdk = task instanceof java.util.concurrent.FutureTask || task instanceof java.util.concurrent.CompletableFuture
          || task instanceof java.util.concurrent.ForkJoinTask;
      if (!isOfJdk || !((java.util.concurrent.Future<?>) task).isDone()) {
        unknown();
      }
    }
  }

  /** A method runs that has no second body. */
  public static void unobserved() {
    if (observers != 0) {
      long state = U.getLong(Thread.currentThread(), STATE);
      if (state > 0) {
        miss(state, NOT_OBSERVED);
      }
    }
  }

  // ---- calls of a method that takes locks: what comes before and behind a long one may not need the lock

  public static long calling(int site) {
    if (observers == 0) {
      return 0;
    }
    long state = U.getLong(Thread.currentThread(), STATE);
    return state <= 0 ? 0 : callBegins(state, site);
  }

  public static void called(long call, int site) {
    if (call != 0) {
      long state = U.getLong(Thread.currentThread(), STATE);
      if (state > 0) {
        callEnds(state, call, site);
      }
    }
  }

  // ---- work of the JVM's own

  /** Classes are loaded, initialised or linked: once, and in an order that the JVM sees to. 0: the thread is not observed. */
  public static long pausing() {
    if (observers == 0) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    long state = U.getLong(thread, STATE);
    U.putLong(thread, STATE, 0);
    return state;
  }

  public static void paused(Throwable failure, long state) {
    if (state != 0) {
      goOn(Thread.currentThread(), state);
    }
  }

  private static final int SECOND_BODY_LINE = 65535;  // src/classfile/second_body.h

  /** Frames of a stack trace, but for those that only lead to a method's second body. */
  public static StackTraceElement[] ownFrames(StackTraceElement[] frames) {
    int own = 0;
    for (StackTraceElement frame : frames) {
      own += frame.getLineNumber() == SECOND_BODY_LINE ? 0 : 1;
    }
    if (own == frames.length) {
      return frames;
    }
    StackTraceElement[] found = new StackTraceElement[own];
    int at = 0;
    for (StackTraceElement frame : frames) {
      if (frame.getLineNumber() != SECOND_BODY_LINE) {
        found[at++] = frame;
      }
    }
    return found;
  }

  /** Methods as reflection shows them: without second bodies, whose last parameter is of this class or an array of it. */
  public static java.lang.reflect.Method[] ownMethods(java.lang.reflect.Method[] methods) {
    int own = 0;
    for (java.lang.reflect.Method method : methods) {
      own += isSecondBody(method) ? 0 : 1;
    }
    if (own == methods.length) {
      return methods;
    }
    java.lang.reflect.Method[] found = new java.lang.reflect.Method[own];
    int at = 0;
    for (java.lang.reflect.Method method : methods) {
      if (!isSecondBody(method)) {
        found[at++] = method;
      }
    }
    return found;
  }

  private static boolean isSecondBody(java.lang.reflect.Method method) {
    int count = method.getParameterCount();
    if (!method.isSynthetic() || count == 0) {
      return false;
    }
    Class<?> last = method.getParameterTypes()[count - 1];
    return last == ContrafactSets.class || last == ContrafactSets[].class;
  }

  // ---- sections that go on in the caller

  private static final int FOR_GOOD = -1;  // in place of a method's name: the section's accesses are not known any more

  /**
   * A method of a chosen class begins: how many locks the thread holds. If another one has ended before that in the middle of a section,
   * and did not return to a method that is observed, one that is not goes on meanwhile.
   */
  public static int held() {
    if (!wanted) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    int holds = U.getInt(thread, HOLDS);
    if (holds > 0 && observers != 0) {
      long state = Math.abs(U.getLong(thread, STATE));
      if (state != 0 && U.getInt(state + LEFT) != 0) {
        U.putInt(state + LEFT, FOR_GOOD);
      }
    }
    return holds;
  }

  /** A method of a chosen class, of this name, ends that held `before` locks when it began: its caller may be unobserved. */
  public static void ending(int before, int name) {
    if (observers != 0 && U.getInt(Thread.currentThread(), HOLDS) > before) {
      long state = Math.abs(U.getLong(Thread.currentThread(), STATE));
      if (state != 0 && U.getInt(state + LEFT) != FOR_GOOD) {
        U.putInt(state + LEFT, name);
      }
    }
  }

  /** A method that is observed goes on behind its call of one of this name. */
  public static void back(int name) {
    if (observers != 0) {
      long state = Math.abs(U.getLong(Thread.currentThread(), STATE));
      if (state != 0 && U.getInt(state + LEFT) == name) {
        U.putInt(state + LEFT, 0);
      }
    }
  }
}
