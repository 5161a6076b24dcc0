package known;

/**
 * Makes calls and objects whose numbers it knows, and says so: lines "call caller callee count" and "objects method count".
 * What it cannot know exactly it leaves out. With an argument it also uses virtual threads, where there are some.
 */
public class Known {
  private static final int ROUNDS = 20_000;  // enough for both compilers
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

  static void throughFrames(int rounds) {
    for (int i = 0; i < rounds; i++) {
      try {
        first(i % 2 == 0);
      } catch (Mark mark) {
        afterCatch();
      }
    }
  }

  static void constructors(int rounds) {
    for (int i = 0; i < rounds; i++) {
      sink = new Derived();
      try {
        sink = new Derived(false);
      } catch (IllegalArgumentException failed) {
        afterCatch();
      }
    }
  }

  static void arrays(int rounds) {
    for (int i = 0; i < rounds; i++) {
      sink = new byte[i % 50];
      sink = new Object[i % 7];
      sink = new long[2][3];
      sink = new String[2][3][];
      sink = new double[0][4];
    }
  }

  static void copies(int rounds) throws CloneNotSupportedException {
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
    for (int i = 0; i < ROUNDS; i++) {
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
    for (int i = 0; i < ROUNDS; i++) {
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
    throughFrames(ROUNDS);
    constructors(ROUNDS);
    arrays(ROUNDS);
    copies(ROUNDS);
    threads();
    overflow();
    boolean virtual = arguments.length > 0 && virtualThreads();

    call(".main", ".throughFrames", 1);
    call(".throughFrames", ".first", ROUNDS);
    call(".first", ".second", ROUNDS);
    call(".second", ".third", ROUNDS);
    call(".third", "$Mark.<init>", ROUNDS / 2);
    call(".first", ".inFinally", ROUNDS);
    call(".throughFrames", ".afterCatch", ROUNDS / 2);
    objects(".third", ROUNDS / 2);

    call(".constructors", "$Derived.<init>", 2L * ROUNDS);
    call("$Derived.<init>", "$Derived.<init>", ROUNDS);
    call("$Derived.<init>", ".argument", ROUNDS);
    call("$Derived.<init>", "$Base.<init>", 2L * ROUNDS);
    call("$Derived.<init>", "$Derived.built", ROUNDS);
    call(".constructors", ".afterCatch", ROUNDS);
    objects(".constructors", 2L * ROUNDS);
    objects(".argument", ROUNDS);
    objects("$Base.<init>", ROUNDS);
    objects("$Derived.<init>", ROUNDS);

    objects(".arrays", ROUNDS * (1 + 1 + 3 + 3 + 1L));

    call(".copies", "$Copied.copy", ROUNDS);
    objects("$Copied.copy", ROUNDS);
    objects(".copies", 2 + ROUNDS);

    call(".work", ".recursive", (long) THREADS * ROUNDS);
    call(".work", ".locked", (long) THREADS * ROUNDS);
    if (virtual) {
      call(".yielding", ".recursive", (long) THREADS * ROUNDS);
    }
    call(".recursive", ".recursive", (long) THREADS * ROUNDS * (DEPTH + (virtual ? 1 : 0)));

    call(".overflow", ".overflowing", 1);
    call(".overflow", ".afterCatch", 1);
    call(".overflow", ".afterOverflow", 1);
  }
}
