package java.lang;

import static java.lang.ContrafactEvents.U;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * Identities: the id of a task, of the code that it will run, of a pool. They live in fields that the agent adds to the
 * task classes, to the pools and to Class.
 */
final class ContrafactTasks {
  // A task's field holds its id and bits for the events reported of it.
  static final int ID = (1 << 28) - 1;
  static final int SPAWNED = 1 << 28;
  static final int DROPPED = 1 << 29;
  static final int STARTED = 1 << 30;
  static final int COMPLETED = 1 << 31;
  /** No events about this one: an inner node of allOf, a wrapper of another task, a carrier of virtual threads. */
  static final int SILENT = COMPLETED | STARTED | DROPPED | SPAWNED;

  static final long FUTURE = U.objectFieldOffset(FutureTask.class, "contrafactTask");
  static final long FORK_JOIN = U.objectFieldOffset(ForkJoinTask.class, "contrafactTask");
  static final long COMPLETABLE = U.objectFieldOffset(CompletableFuture.class, "contrafactTask");
  static final long THREAD_POOL = U.objectFieldOffset(ThreadPoolExecutor.class, "contrafactPool");
  static final long FORK_JOIN_POOL = U.objectFieldOffset(ForkJoinPool.class, "contrafactPool");

  private static final long BODY = U.objectFieldOffset(Class.class, "contrafactBody");      // MethodId + 1
  private static final long INNER = U.objectFieldOffset(Class.class, "contrafactInner");    // offset of what it wraps
  private static final long LAMBDA = U.objectFieldOffset(Class.class, "contrafactLambda");  // Object[]{class, name, type}
  private static final long HANDED = U.objectFieldOffset(Class.class, "contrafactHanded");  // bits, see below
  private static final long FRAMEWORK_TASK = U.objectFieldOffset(Class.class, "contrafactTaskField");  // offset; -1: none
  private static final long POOL_FIELD = U.objectFieldOffset(Class.class, "contrafactPoolField");      // offset; -1: none
  private static final long KEYS_FIELD = U.objectFieldOffset(Class.class, "contrafactKeysField");      // the same
  private static final String[] INNER_NAMES = {"callable", "runnable", "fn", "task", "actual", "continuation", "delegate", "block"};
  /** Where a wrapper keeps its task in a field of one of those names. */
  private static final String[] WRAPPING_PACKAGES = {"java.util.concurrent.", "io.netty.util.concurrent.",
      "com.google.common.util.concurrent.", "kotlinx.coroutines.", "io.reactivex.rxjava3.internal.schedulers.",
      "reactor.core.scheduler.", "org.jboss.threads.",
      "org.eclipse.jetty.util.thread."};
  private static final int UNWRAP_MAX = 8;

  private static final long THREAD_HOLDER = offset(Thread.class, "holder");
  private static final long THREAD_TARGET = THREAD_HOLDER >= 0
      ? offset(type("java.lang.Thread$FieldHolder"), "task") : offset(Thread.class, "target");

  private static final Class<?> VIRTUAL = type("java.lang.VirtualThread");
  private static final Class<?> VIRTUAL_BODY = type("java.lang.VirtualThread$VThreadContinuation$1");
  private static final long VIRTUAL_CONTINUATION = offset(VIRTUAL, "cont");
  private static final long CONTINUATION_TARGET = offset(type("jdk.internal.vm.Continuation"), "target");
  private static final long VIRTUAL_BODY_TASK = offset(VIRTUAL_BODY, "val$task");

  static final Class<?> QUEUEING_FUTURE = type("java.util.concurrent.ExecutorCompletionService$QueueingFuture");
  static final long QUEUEING_TASK = offset(QUEUEING_FUTURE, "task");
  static final Class<?> INNOCUOUS = type("jdk.internal.misc.InnocuousThread");
  static final Class<?> CARRIER = type("jdk.internal.misc.CarrierThread");
  // How objects of a class begin that were handed to an executor.
  static final int KNOWN = 1;       // looked up in the table below
  static final int NO_TASK = 2;     // a framework's loop over a queue of its own, whose tasks are
  static final int AT_WORKERS = 4;  // where a worker of a pool of the JDK's calls run(); a call by others runs no task
  static final int AT_CALLS = 16;   // where anybody calls run()
  static final int BY_ITSELF = 8;   // within itself, as a row of probes_frameworks.cc says
  private static final String[] LOOPS = {"kotlinx.coroutines.internal.LimitedDispatcher$Worker",
      "com.google.common.util.concurrent.SequentialExecutor$QueueWorker"};

  static final long FUTURE_STATE = offset(FutureTask.class, "state");
  static final long FUTURE_RUNNER = offset(FutureTask.class, "runner");
  static final long COMPLETABLE_RESULT = offset(CompletableFuture.class, "result");
  static final Class<?> ALT_RESULT = type("java.util.concurrent.CompletableFuture$AltResult");
  static final long ALT_RESULT_CAUSE = offset(ALT_RESULT, "ex");
  static final Class<?> UNI_RELAY = type("java.util.concurrent.CompletableFuture$UniRelay");
  static final Class<?> BI_RELAY = type("java.util.concurrent.CompletableFuture$BiRelay");
  private static int perTask;       // numbers of the pools that stand for threads made one a task
  private static int asyncThreads;

  private ContrafactTasks() {}

  static void prepare() {
    Thread thread = Thread.currentThread();
    long field = ContrafactEvents.FLAGS;
    int before = U.getIntAcquire(thread, field);
    mark(thread, field, STARTED);
    U.compareAndSetInt(thread, field, before | STARTED, before);
    if (FUTURE_STATE < 0 || COMPLETABLE_RESULT < 0 || THREAD_TARGET < 0 || ALT_RESULT_CAUSE < 0
        || FUTURE_RUNNER < 0) {
      throw new InternalError("fields of the JDK");
    }
  }

  private static Class<?> type(String name) {
    try {
      return Class.forName(name, false, null);
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  private static long offset(Class<?> owner, String field) {
    try {
      return owner == null ? -1 : U.objectFieldOffset(owner, field);
    } catch (InternalError e) {
      return -1;
    }
  }

  /** Where an object keeps its task, or -1 if it is of no class that has one. */
  static long fieldOf(Object task) {
    if (task instanceof FutureTask) {
      return FUTURE;
    }
    if (task instanceof CompletableFuture) {
      return COMPLETABLE;
    }
    if (task instanceof ForkJoinTask) {
      return FORK_JOIN;
    }
    return task instanceof Thread ? ContrafactEvents.THREAD_TASK : frameworkField(task.getClass());
  }

  /** As fieldOf, of a class that is no task of the JDK's: those of frameworks have a field, too. */
  static long frameworkField(Class<?> type) {
    long field = U.getLong(type, FRAMEWORK_TASK);
    if (field == 0) {
      field = inherited(type, "contrafactTask");
      if (field >= 0) {
        beginning(type, AT_CALLS);
      }
      U.putLong(type, FRAMEWORK_TASK, field);
    }
    return field;
  }

  private static long inherited(Class<?> type, String field) {
    long offset = -1;
    for (Class<?> c = type; c != Object.class && c != null && offset < 0; c = c.getSuperclass()) {
      offset = offset(c, field);
    }
    return offset;
  }

  /** Bits that say how objects of a class begin. */
  static int beginning(Class<?> type) {
    return U.getIntAcquire(type, HANDED);
  }

  /** Adds to them; what they are then. */
  static int beginning(Class<?> type, int bits) {
    int before = U.getIntAcquire(type, HANDED);
    if ((before & (bits | KNOWN)) == (bits | KNOWN)) {
      return before;
    }
    bits |= KNOWN;
    String name = type.getName();
    for (int i = 0; i < LOOPS.length; i++) {
      if (name.equals(LOOPS[i])) {
        bits |= NO_TASK;
      }
    }
    while (!U.compareAndSetInt(type, HANDED, before, before | bits)) {
      before = U.getIntAcquire(type, HANDED);
    }
    return before | bits;
  }

  /** The word of a task; a fresh id if it has none. Threads that race for it agree on one. */
  static int wordOf(Object task, long field) {
    int word = U.getIntAcquire(task, field);
    if (word == 0) {
      int id = ContrafactEvents.newTask();
      word = U.compareAndSetInt(task, field, 0, id) ? id : U.getIntAcquire(task, field);
    }
    return word;
  }

  /** Sets bits of a task's word; false if they were all set before (so the event has been reported, or must not be). */
  static boolean mark(Object task, long field, int bits) {
    for (;;) {
      int word = U.getIntAcquire(task, field);
      if ((word & bits) == bits) {
        return false;
      }
      if (U.compareAndSetInt(task, field, word, word | bits)) {
        return true;
      }
    }
  }

  static int poolOf(ThreadPoolExecutor pool) {
    int number = U.getIntAcquire(pool, THREAD_POOL);
    return (number != 0 ? number : ContrafactEvents.addPool(pool)) - 1;
  }

  static int poolOf(ForkJoinPool pool) {
    int number = U.getIntAcquire(pool, FORK_JOIN_POOL);
    return (number != 0 ? number : ContrafactEvents.addPool(pool)) - 1;
  }

  /** Of any executor; -1 if the agent gave its class no field. */
  static int poolOf(Object executor) {
    if (executor instanceof ThreadPoolExecutor) {
      return poolOf((ThreadPoolExecutor) executor);
    }
    if (executor instanceof ForkJoinPool) {
      return poolOf((ForkJoinPool) executor);
    }
    long field = poolField(executor.getClass());
    if (field < 0) {
      return ContrafactEvents.NONE;
    }
    int number = U.getIntAcquire(executor, field);
    return (number != 0 ? number : ContrafactEvents.addPool(executor)) - 1;
  }

  /** Where objects of the class keep the number of the pool that they are; negative if the agent gave it no field. */
  static long poolField(Class<?> type) {
    long field = U.getLong(type, POOL_FIELD);
    if (field == 0) {
      field = inherited(type, "contrafactPool");
      U.putLong(type, POOL_FIELD, field);
    }
    return field;
  }

  /** Where objects of the class keep the numbers that they have as pools, by key; negative if the agent gave it no field. */
  static long keysField(Class<?> type) {
    long field = U.getLong(type, KEYS_FIELD);
    if (field == 0) {
      field = inherited(type, "contrafactKeys");
      U.putLong(type, KEYS_FIELD, field);
    }
    return field;
  }

  /** Where objects of the class keep the place at which they were made as pools; negative if the agent gave it no field. */
  static long madeField(Class<?> type) {
    return inherited(type, "contrafactMade");
  }

  /** All of them as one. */
  static int poolOfThreads() {
    if (perTask == 0) {
      perTask = ContrafactEvents.addThreads("java.util.concurrent.ThreadPerTaskExecutor");
    }
    return perTask - 1;
  }

  static int poolOfAsyncThreads() {
    if (asyncThreads == 0) {
      asyncThreads = ContrafactEvents.addThreads("java.util.concurrent.CompletableFuture$ThreadPerTaskExecutor");
    }
    return asyncThreads - 1;
  }

  /** What a task will run: the method behind a lambda, or the named method of the innermost thing that is wrapped. */
  static int bodyOf(Object code) {
    for (int i = 0; i < UNWRAP_MAX && code != null; i++) {
      Object inner = inner(code);
      if (inner == code || inner == null) {
        break;
      }
      code = inner;
    }
    if (code == null) {
      return ContrafactEvents.NONE;
    }
    Class<?> type = code.getClass();
    int body = U.getInt(type, BODY);
    if (body == 0) {
      Object[] lambda = (Object[]) U.getReferenceAcquire(type, LAMBDA);
      body = 1 + (lambda == null ? ContrafactEvents.entryPoint(code)
          : ContrafactEvents.body((Class<?>) lambda[0], (String) lambda[1], (String) lambda[2]));
      U.putInt(type, BODY, body == 0 ? -1 : body);
    }
    return body < 0 ? ContrafactEvents.NONE : body - 1;
  }

  static int bodyOfThread(Thread thread) {
    Object target = targetOf(thread);
    return bodyOf(target != null ? target : thread);
  }

  /** Null if it runs itself. */
  static Object targetOf(Thread thread) {
    Object holder = THREAD_HOLDER >= 0 ? U.getReference(thread, THREAD_HOLDER) : thread;
    return holder == null || THREAD_TARGET < 0 ? null : U.getReference(holder, THREAD_TARGET);
  }

  /** As targetOf, of a virtual thread; null if it is none, or keeps it elsewhere. */
  static Object virtualTargetOf(Thread thread) {
    if (VIRTUAL_CONTINUATION < 0 || CONTINUATION_TARGET < 0 || VIRTUAL_BODY_TASK < 0 || thread.getClass() != VIRTUAL) {
      return null;
    }
    Object continuation = U.getReference(thread, VIRTUAL_CONTINUATION);
    Object body = continuation == null ? null : U.getReference(continuation, CONTINUATION_TARGET);
    return body == null || body.getClass() != VIRTUAL_BODY ? null : U.getReference(body, VIRTUAL_BODY_TASK);
  }

  private static Object inner(Object code) {
    Class<?> type = code.getClass();
    long offset = U.getLong(type, INNER);
    if (offset == 0) {
      offset = -1;
      for (Class<?> c = type; c != null && offset < 0; c = c.getSuperclass()) {
        if (isWrapping(c.getName())) {
          for (int i = 0; i < INNER_NAMES.length && offset < 0; i++) {
            offset = offset(c, INNER_NAMES[i]);
          }
        }
      }
      U.putLong(type, INNER, offset);
    }
    return offset < 0 ? code : U.getReference(code, offset);
  }

  private static boolean isWrapping(String name) {
    for (int i = 0; i < WRAPPING_PACKAGES.length; i++) {
      if (name.startsWith(WRAPPING_PACKAGES[i])) {
        return true;
      }
    }
    return false;
  }

  /** The lambda metafactory made the class `proxy` for a method. */
  static void lambda(Class<?> proxy, Class<?> host, String method, String descriptor) {
    U.putReferenceRelease(proxy, LAMBDA, new Object[] {host, method, descriptor});
  }
}
