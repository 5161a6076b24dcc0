package known;

/**
 * Makes calls and objects whose numbers it knows, and says so: lines "call caller callee count" and "objects method count".
 * What it cannot know exactly it leaves out. Its arguments: "virtual" to use virtual threads too, where there are some; a
 * number of rounds.
 */
public class Known {
  private static int rounds = 20_000;  // enough for both compilers
  private static final int THREADS = 4;
  private static final int DEPTH = 10;

  static class Base {
    final Object given;

    Base(Object given) {
      if (given == null) {
        throw new IllegalArgumentException();
      }
      this.given = given;
    }
  }

  static class Derived extends Base {
    final int[] three = new int[3];

    Derived(boolean good) {
      super(good ? argument() : null);
      built();
    }

    Derived() {
      this(true);
    }

    void built() {}
  }

  static class Copied implements Cloneable {
    long value;

    Object copy() throws CloneNotSupportedException {
      return super.clone();
    }
  }

  static class Mark extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  static volatile Object sink;
  static int depthReached;

  static Object argument() {
    return new Object();
  }

  static int recursive(int depth) {
    return depth == 0 ? 0 : 1 + recursive(depth - 1);
  }

  static void third(boolean fails) {
    if (fails) {
      throw new Mark();
    }
  }

  static void second(boolean fails) {
    third(fails);
  }

  static void first(boolean fails) {
    try {
      second(fails);
    } finally {
      inFinally();
    }
  }

  static void inFinally() {}

  static void afterCatch() {}

  static synchronized void locked() {}

  static void throughFrames() {
    for (int i = 0; i < rounds; i++) {
      try {
        first(i % 2 == 0);
      } catch (Mark mark) {
        afterCatch();
      }
    }
  }

  static void constructors() {
    for (int i = 0; i < rounds; i++) {
      sink = new Derived();
      try {
        sink = new Derived(false);
      } catch (IllegalArgumentException failed) {
        afterCatch();
      }
    }
  }

  static void arrays() {
    for (int i = 0; i < rounds; i++) {
      sink = new byte[i % 50];
      sink = new Object[i % 7];
      sink = new long[2][3];
      sink = new String[2][3][];
      sink = new double[0][4];
    }
  }

  static void copies() throws CloneNotSupportedException {
    Copied copied = new Copied();
    int[] numbers = {1, 2, 3};
    for (int i = 0; i < rounds; i++) {
      sink = copied.copy();
      sink = numbers.clone();
    }
  }

  static void overflowing(int depth) {
    depthReached = depth;
    overflowing(depth + 1);
  }

  static void overflow() {
    try {
      overflowing(0);
    } catch (StackOverflowError expected) {
      afterCatch();
    }
    afterOverflow();
  }

  static void afterOverflow() {}

  static void work() {
    for (int i = 0; i < rounds; i++) {
      recursive(DEPTH);
      locked();
    }
  }

  static void threads() throws InterruptedException {
    Thread[] threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      threads[i] = new Thread(Known::work);
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  static void yielding() {
    for (int i = 0; i < rounds; i++) {
      recursive(1);
      if (i % 100 == 0) {
        Thread.yield();
      }
    }
  }

  /** By reflection: JDK 17 has none. */
  static boolean virtualThreads() throws ReflectiveOperationException, InterruptedException {
    java.lang.reflect.Method start;
    try {
      start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    } catch (NoSuchMethodException none) {
      return false;
    }
    Thread[] threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      threads[i] = (Thread) start.invoke(null, (Runnable) Known::yielding);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return true;
  }

  static void call(String caller, String callee, long count) {
    System.out.println("call known.Known" + caller + " known.Known" + callee + " " + count);
  }

  static void objects(String method, long count) {
    System.out.println("objects known.Known" + method + " " + count);
  }

  public static void main(String[] arguments) throws Exception {
    boolean wantsVirtual = false;
    for (String argument : arguments) {
      wantsVirtual |= argument.equals("virtual");
      if (Character.isDigit(argument.charAt(0))) {
        rounds = Integer.parseInt(argument);
      }
    }
    throughFrames();
    constructors();
    arrays();
    copies();
    threads();
    overflow();
    boolean virtual = wantsVirtual && virtualThreads();

    call(".main", ".throughFrames", 1);
    call(".throughFrames", ".first", rounds);
    call(".first", ".second", rounds);
    call(".second", ".third", rounds);
    call(".third", "$Mark.<init>", rounds / 2);
    call(".first", ".inFinally", rounds);
    call(".throughFrames", ".afterCatch", rounds / 2);
    objects(".third", rounds / 2);

    call(".constructors", "$Derived.<init>", 2L * rounds);
    call("$Derived.<init>", "$Derived.<init>", rounds);
    call("$Derived.<init>", ".argument", rounds);
    call("$Derived.<init>", "$Base.<init>", 2L * rounds);
    call("$Derived.<init>", "$Derived.built", rounds);
    call(".constructors", ".afterCatch", rounds);
    objects(".constructors", 2L * rounds);
    objects(".argument", rounds);
    objects("$Base.<init>", rounds);
    objects("$Derived.<init>", rounds);

    objects(".arrays", rounds * (1 + 1 + 3 + 3 + 1L));

    call(".copies", "$Copied.copy", rounds);
    objects("$Copied.copy", rounds);
    objects(".copies", 2 + rounds);

    call(".work", ".recursive", (long) THREADS * rounds);
    call(".work", ".locked", (long) THREADS * rounds);
    if (virtual) {
      call(".yielding", ".recursive", (long) THREADS * rounds);
    }
    call(".recursive", ".recursive", (long) THREADS * rounds * (DEPTH + (virtual ? 1 : 0)));

    call(".overflow", ".overflowing", 1);
    call(".overflow", ".afterCatch", 1);
    call(".overflow", ".afterOverflow", 1);
  }
}
