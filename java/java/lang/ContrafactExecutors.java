package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;
import static java.lang.ContrafactTasks.*;

import java.util.concurrent.CompletableFuture.AsynchronousCompletionTask;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The probes of executors that are not the JDK's, whatever the framework: the hand-over of a Runnable, its begin, and
 * the futures that it completes (src/agent_jvm/probes_frameworks.cc).
 *
 * While an executor takes a task over, its thread's `submitting` is that task: an executor that hands it on to another
 * is no second submission. For executors without a row in the table, the thread keeps the executor, too: if a pool of
 * the JDK's gets something meanwhile, that executor merely hands on its tasks, and from then on objects of its class
 * record nothing. The same holds if it starts a thread for the task.
 */
public final class ContrafactExecutors {
  // How a task is handed over, as bits.
  private static final int ROW = 1;       // a row of the table says so, whatever else is handed over meanwhile
  private static final int IN_PLACE = 2;  // it runs before the call returns: a stage
  private static final int BEGINS_BY_ITSELF = 4;
  private static final int OWN_POOL = 8;  // of the program, and no Executor

  private static final long SUBMITTING = U.objectFieldOffset(Thread.class, "contrafactSubmitting");
  private static final long SUBMITTER = U.objectFieldOffset(Thread.class, "contrafactSubmitter");
  private static final long HANDS_ON = U.objectFieldOffset(Class.class, "contrafactHandsOn");  // of executors: 1 if so

  private ContrafactExecutors() {}

  static void prepare() {}

  // ---- submissions

  public static long handing(Object executor, Object command, int how) {
    if (!live || command == null) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    if (U.getReference(thread, SUBMITTING) == command) {
      return 0;
    }
    if (executor instanceof ThreadPoolExecutor || executor instanceof ForkJoinPool) {
      return 0;
    }
    boolean row = (how & ROW) != 0;
    boolean isPool = (how & OWN_POOL) != 0 || executor instanceof Executor;
    if (!row && (!isPool || U.getInt(executor.getClass(), HANDS_ON) != 0)) {
      return 0;
    }
    int begins = beginning(command.getClass(), (how & BEGINS_BY_ITSELF) != 0 ? BY_ITSELF : fieldOf(command) < 0 ? AT_CALLS : 0);
    if ((begins & NO_TASK) != 0 || (begins & BY_ITSELF) != 0 && isCancelled(command)) {
      return 0;
    }
    if ((how & IN_PLACE) != 0) {
      create(thread, command);
    } else {
      spawn(thread, command, poolOf(executor), System.nanoTime());
      if ((how & BEGINS_BY_ITSELF) != 0 && command instanceof Delayed) {
        delay(thread, command);
      }
    }
    U.putReference(thread, SUBMITTING, command);
    U.putReference(thread, SUBMITTER, row ? null : executor);
    return 1;
  }

  /** A cancelled task is handed over once more, for its queue's thread to take it out. */
  private static boolean isCancelled(Object command) {
    long field = fieldOf(command);
    return field >= 0 && (U.getIntAcquire(command, field) & DROPPED) != 0;
  }

  /** A timed task goes back into its queue: at first, which handing() has recorded, or after a run, for the next. */
  public static void again(Object executor, Object command) {
    if (!live) {
      return;
    }
    long field = fieldOf(command);
    if (field < 0 || (U.getInt(command, field) & STARTED) == 0) {
      return;
    }
    Thread thread = Thread.currentThread();
    spawn(thread, command, poolOf(executor), System.nanoTime());
    delay(thread, command);
  }

  /** The call is over. A task that it refused by an exception will not run. */
  public static void handed(Throwable failure, long token, Object command) {
    if (token != 0) {
      Thread thread = Thread.currentThread();
      forget(thread);
      if (failure != null) {
        dropped(command);
      }
    }
  }

  /** `thread` hands nothing over: what a task hands over is the task's own, also where it runs before such a call is over. */
  static void forget(Thread thread) {
    U.putReference(thread, SUBMITTING, null);
    U.putReference(thread, SUBMITTER, null);
  }

  /** As spawn, for a task that runs at once, on this thread. */
  private static void create(Thread thread, Object command) {
    long field = fieldOf(command);
    if (field < 0) {
      int id = newTask();
      emit(thread, TASK_CREATE, id, ContrafactContexts.ofTask(command), bodyOf(command));
      ContrafactQueued.put(command, id);
    } else if (!(command instanceof AsynchronousCompletionTask)) {
      int word = idToSpawn(command, field);
      if (word != 0 && word != SILENT) {
        emit(thread, TASK_CREATE, word & ID, context(), bodyOf(command));
      }
    }
  }

  private static void delay(Thread thread, Object command) {
    long field = fieldOf(command);
    long delay = ((Delayed) command).getDelay(TimeUnit.MICROSECONDS);
    if (field >= 0 && delay > 0) {
      emit(thread, TASK_DELAY, U.getInt(command, field) & ID, microseconds(delay));
    }
  }

  /**
   * A pool of the JDK's gets something while another executor takes a task over: that one hands on. True if it hands on
   * the very task, which has been spawned.
   */
  static boolean isHandedOn(Thread thread, Object command) {
    Object executor = U.getReference(thread, SUBMITTER);
    if (executor != null) {
      U.putInt(executor.getClass(), HANDS_ON, 1);
    }
    return U.getReference(thread, SUBMITTING) == command;
  }

  /**
   * `thread` starts another: if that thread runs the very task that an executor takes over meanwhile, the thread is the
   * task. A task that begins within itself is one nevertheless.
   */
  static void startingThread(Thread thread, Thread started) {
    Object executor = U.getReference(thread, SUBMITTER);
    if (executor == null) {
      return;
    }
    Object command = U.getReference(thread, SUBMITTING);
    if (!(command instanceof FutureTask || command instanceof ForkJoinTask)
        && (targetOf(started) == command || virtualTargetOf(started) == command)) {
      U.putInt(executor.getClass(), HANDS_ON, 1);
      dropped(command);
    }
  }

  // ---- executions

  /** `command` was handed over, and somebody calls it. */
  static long begin(Object command) {
    long field = frameworkField(command.getClass());
    int id;
    if (field < 0) {
      id = ContrafactQueued.take(command);
    } else {
      int word = U.getIntAcquire(command, field);
      boolean pending = (word & (SPAWNED | STARTED | DROPPED | COMPLETED)) == SPAWNED;
      id = pending && mark(command, field, STARTED) ? word & ID : 0;
    }
    if (id == 0) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    forget(thread);
    return startTask(thread, id);
  }

  /** A task that begins within itself does so. */
  public static long selfStart(Object command) {
    return live ? begin(command) : 0;
  }

  /** A framework calls code that nobody handed over and nobody waits for: a stage, run in place. */
  public static long placeStart(Object command) {
    if (!live || command == null) {
      return 0;
    }
    long begun = begin(command);
    if (begun != 0) {
      return begun;
    }
    Thread thread = Thread.currentThread();
    int id = newTask();
    emit(thread, TASK_CREATE, id, ContrafactContexts.ofTask(command), bodyOf(command));
    forget(thread);
    return startTask(thread, id);
  }

  // ---- futures

  /** A framework's future is about to be done. */
  public static void completing(Object future, int outcome) {
    if (!live || ((Future<?>) future).isDone()) {
      return;
    }
    long field = fieldOf(future);
    if (field < 0) {
      return;
    }
    int word = wordOf(future, field);
    if (mark(future, field, COMPLETED) && (word & COMPLETED) == 0) {
      emit(Thread.currentThread(), TASK_COMPLETE, word & ID, outcome);
      if (outcome == CANCELLED) {
        dropped(future);
      }
    }
  }

  /** As completing, of one that cannot be cancelled once it runs. */
  public static void cancelling(Object future) {
    long field = live ? fieldOf(future) : -1;
    if (field >= 0 && (U.getInt(future, field) & STARTED) == 0) {
      completing(future, CANCELLED);
    }
  }
}
