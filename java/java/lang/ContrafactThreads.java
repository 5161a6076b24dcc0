package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;
import static java.lang.ContrafactTasks.*;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * The probes of Thread and of executors that make a thread for each task (src/agent_jvm/probes_thread.cc). No initialiser: its callers
 * run in the earliest part of the start-up.
 */
public final class ContrafactThreads {
  // A shorter block may be none: what the thread waited for was there at once.
  private static final long STAYED_NS_MIN = 100_000;

  private ContrafactThreads() {}

  /** Threads of the JDK's own (cleaners, carriers) are nobody's task. */
  public static void starting(Thread started) {
    if (!live || started.getClass() == CARRIER || started.getClass() == INNOCUOUS) {
      return;
    }
    Thread thread = Thread.currentThread();
    ContrafactExecutors.startingThread(thread, started);
    int word = wordOf(started, THREAD_TASK);
    if (mark(started, THREAD_TASK, SPAWNED)) {
      int pool = U.getInt(started, THREAD_POOL_ID) - 1;
      emit(thread, TASK_SPAWN, word & ID, context(), pool, bodyOfThread(started));
    }
  }

  public static void notStarted(Thread thread) {
    if (live && mark(thread, THREAD_TASK, DROPPED)) {
      emit(Thread.currentThread(), TASK_DROP, U.getInt(thread, THREAD_TASK) & ID);
    }
  }

  public static void uncaught(Thread thread) {
    if (!live) {
      return;
    }
    U.putInt(thread, FLAGS, U.getInt(thread, FLAGS) | FLAG_UNCAUGHT);
  }

  public static long virtualBegin(Thread thread) {
    if (!live) {
      return 0;
    }
    emit(thread, THREAD_BEGIN);
    int word = wordOf(thread, THREAD_TASK);
    mark(thread, THREAD_TASK, STARTED);
    return startTask(thread, word & ID);
  }

  public static void virtualEnd(Throwable failure, long token, Object ended) {
    if (token != 0) {
      Thread thread = (Thread) ended;
      int outcome = failure == null ? NORMAL : EXCEPTION;
      if (mark(thread, THREAD_TASK, COMPLETED)) {
        emit(thread, TASK_COMPLETE, (int) (token >>> 32), outcome);
      }
      endTask(thread, token, outcome);
      emit(thread, THREAD_END);
    }
  }

  /** A virtual thread has left its carrier: called there. */
  public static void unmounted(Thread thread) {
    if (live) {
      U.putLong(thread, UNMOUNTED, System.nanoTime());
    }
  }

  /** The current thread, a virtual one, goes on after a block: it kept its carrier if it has not left it meanwhile. */
  static void stayed(Thread thread, int context) {
    long stopped = U.getLong(thread, STOPPED);
    long blocked = System.nanoTime() - stopped;
    if (U.getLong(thread, UNMOUNTED) < stopped && blocked >= STAYED_NS_MIN) {
      pinned(context, blocked);
    }
  }

  /** `thread` will run a task that was handed to an executor that makes a thread for each. */
  public static void startingFor(Thread thread) {
    if (live) {
      U.putInt(thread, THREAD_POOL_ID, poolOfThreads() + 1);
    }
  }

  /** As above, where the thread runs a future of its own. */
  public static void submittedFor(Object future) {
    if (live && future != null) {
      spawn(Thread.currentThread(), future, poolOfThreads(), System.nanoTime());
    }
  }

  /** CompletableFuture's own thread per task. */
  public static void executingAsync(Runnable command) {
    if (live && command != null) {
      spawn(Thread.currentThread(), command, poolOfAsyncThreads(), System.nanoTime());
    }
  }

  /** Pools that carry virtual threads: their tasks are no tasks of the program. */
  public static void silence(Object pools) {
    if (pools instanceof Object[]) {
      for (Object pool : (Object[]) pools) {
        silence(pool);
      }
    } else if (pools instanceof ThreadPoolExecutor) {
      U.putInt(pools, THREAD_POOL, UNKNOWN);
    } else if (pools instanceof ForkJoinPool) {
      U.putInt(pools, FORK_JOIN_POOL, UNKNOWN);
    }
  }
}
