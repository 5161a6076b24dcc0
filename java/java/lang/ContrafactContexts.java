package java.lang;

import static java.lang.ContrafactEvents.U;

import jdk.internal.loader.ClassLoaders;

/**
 * Contexts that are too frequent for a walk of the stack each time.
 *
 * The contexts of the first forks and joins of a task class are all taken; from then on one in PERIOD is, and the
 * others repeat the class's latest. Their number is a fact of the trace.
 *
 * A stage or Runnable that the JDK makes for a purpose of its own (its HttpClient makes dozens for each request) has
 * for its context only the frame that makes it or hands it out, without its callers. That context follows from the
 * class of the code, so it is taken once.
 */
final class ContrafactContexts {
  private static final int EXACT_MAX = 2000;
  private static final int PERIOD = 16;
  private static final long FORKS = U.objectFieldOffset(Class.class, "contrafactForks");
  private static final long FORK_CONTEXT = U.objectFieldOffset(Class.class, "contrafactForkContext");
  private static final long JOINS = U.objectFieldOffset(Class.class, "contrafactJoins");
  private static final long JOIN_CONTEXT = U.objectFieldOffset(Class.class, "contrafactJoinContext");
  private static final long OWN_CONTEXT = U.objectFieldOffset(Class.class, "contrafactOwnContext");  // plus one
  private static final int EACH_TIME = -1;  // as an OWN_CONTEXT: the class is not the JDK's own
  static long reused;  // racy: a rough figure will do

  private ContrafactContexts() {}

  static void prepare() {}

  static int ofFork(Object task) {
    return of(task.getClass(), FORKS, FORK_CONTEXT);
  }

  static int ofJoin(Object task) {
    return of(task.getClass(), JOINS, JOIN_CONTEXT);
  }

  /** Of making or handing out a task that will run `code`. */
  static int ofTask(Object code) {
    if (code == null) {
      return ContrafactEvents.context();
    }
    Class<?> type = code.getClass();
    int own = U.getInt(type, OWN_CONTEXT);
    if (own == 0) {
      own = isJdksOwn(type) ? ContrafactEvents.makerContext() + 1 : EACH_TIME;
      U.putInt(type, OWN_CONTEXT, own);
    }
    return own == EACH_TIME ? ContrafactEvents.context() : own - 1;
  }

  /** Internal packages only: the public ones also have functions that a program hands on, such as Function.identity(). */
  private static boolean isJdksOwn(Class<?> type) {
    ClassLoader loader = type.getClassLoader0();
    String name = type.getName();
    return (loader == null || loader == ClassLoaders.platformClassLoader())
        && (name.startsWith("jdk.internal.") || name.startsWith("sun."));
  }

  private static int of(Class<?> type, long count, long latest) {
    int calls = U.getInt(type, count) + 1;
    U.putInt(type, count, calls);
    if (calls > EXACT_MAX && calls % PERIOD != 0) {
      reused++;
      return U.getInt(type, latest);
    }
    int context = ContrafactEvents.context();
    U.putInt(type, latest, context);
    return context;
  }
}
