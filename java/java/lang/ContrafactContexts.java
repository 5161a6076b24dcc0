package java.lang;

import static java.lang.ContrafactEvents.U;

/**
 * Contexts of forks and joins, which are too frequent for a walk of the stack each time. The first ones of a task class are
 * taken all; from then on one in PERIOD is, and the others repeat the class's latest. How many did is a fact of the trace.
 */
final class ContrafactContexts {
  private static final int EXACT_MAX = 2000;
  private static final int PERIOD = 16;
  private static final long FORKS = U.objectFieldOffset(Class.class, "contrafactForks");
  private static final long FORK_CONTEXT = U.objectFieldOffset(Class.class, "contrafactForkContext");
  private static final long JOINS = U.objectFieldOffset(Class.class, "contrafactJoins");
  private static final long JOIN_CONTEXT = U.objectFieldOffset(Class.class, "contrafactJoinContext");
  static long reused;  // racy: a rough figure will do

  private ContrafactContexts() {}

  static void prepare() {}

  static int ofFork(Object task) {
    return of(task.getClass(), FORKS, FORK_CONTEXT);
  }

  static int ofJoin(Object task) {
    return of(task.getClass(), JOINS, JOIN_CONTEXT);
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
