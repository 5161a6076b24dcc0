package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactTasks.*;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletableFuture.AsynchronousCompletionTask;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The injected code calls this class (src/agent_jvm/probes_*.cc). All is inert until the agent sets `live`; the class
 * has no initialiser, since its callers run in the earliest part of the start-up.
 *
 * A bracket (task, wait, idle, block) returns a token that its end takes; 0: nothing was begun. Events inside a wait or
 * an idle worker are left out unless they belong to a task started there: the thread counts open waits and idles in
 * `quiet`. A task that starts inside keeps the count in its token.
 */
public final class ContrafactProbes {
  public static boolean live;

  // format::Outcome
  static final int NORMAL = 0;
  static final int EXCEPTION = 1;
  static final int TIMEOUT = 2;
  static final int INTERRUPTED = 3;
  static final int CANCELLED = 4;
  // format::BlockReason
  private static final int PARK = 0;
  private static final int SLEEP = 1;
  static final int IO = 4;
  private static final int POLL = 5;

  static final int UNKNOWN = -1;
  static final long WAIT_OVER = 3;         // a wait's token: it had an end before it began, and takes no time
  private static final int FUTURE_COMPLETING = 1;  // FutureTask.COMPLETING; what is greater is done

  private ContrafactProbes() {}

  /** Initialises the injected classes and tries what may differ between JDKs; throws whatever is wrong with them. */
  static void prepare() {
    Object probe = new Object();
    ContrafactQueued.put(probe, 1);
    if (ContrafactQueued.take(probe) != 1 || ContrafactQueued.take(probe) != 0) {
      throw new InternalError("queue");
    }
    ContrafactEvents.prepare();
    ContrafactContexts.prepare();
    ContrafactTasks.prepare();
    ContrafactCosts.prepare();
    ContrafactExecutors.prepare();
    ContrafactLocks.prepare();
    ContrafactResources.prepare();
    ContrafactQueues.prepare();
    ContrafactSockets.prepare();
    ContrafactEndpoints.prepare();
    ContrafactSetLog.prepare();
    ContrafactTaints.prepare();
  }

  // ---- brackets

  static long startTask(Thread thread, int id) {
    emit(thread, TASK_START, id);
    return startQuietly(thread, id);
  }

  /** As startTask, whose event was emitted already. */
  static long startQuietly(Thread thread, int id) {
    int quiet = U.getInt(thread, QUIET);
    U.putInt(thread, QUIET, 0);
    return (long) id << 32 | (long) quiet << 1 | 1;
  }

  static void endTask(Thread thread, long token, int outcome) {
    emit(thread, TASK_END, (int) (token >>> 32), outcome);
    endQuietly(thread, token);
  }

  /** As endTask, whose event was emitted already. */
  static void endQuietly(Thread thread, long token) {
    U.putInt(thread, QUIET, (int) token >>> 1);
  }

  private static int outcomeOf(Throwable failure) {
    if (failure == null) {
      return NORMAL;
    }
    if (failure instanceof TimeoutException) {
      return TIMEOUT;
    }
    if (failure instanceof InterruptedException) {
      return INTERRUPTED;
    }
    return failure instanceof CancellationException ? CANCELLED : EXCEPTION;
  }

  /** The program asks for the result of `task` (null: of whichever comes first). */
  public static long waitBegin(Object task) {
    if (!live) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    int quiet = U.getInt(thread, QUIET);
    U.putInt(thread, QUIET, quiet + 1);
    if (quiet > 0) {
      return 2;
    }
    int word = task == null ? NONE : idToWaitFor(task);
    long began = ContrafactCosts.begin(word);
    emit(thread, WAIT_BEGIN, word, context());
    ContrafactCosts.end(WAIT_BEGIN, began);
    return task != null && isOver(task) ? WAIT_OVER : 1;
  }

  /** Whether a wait for `task` will not block. False if only the program's code could tell. */
  private static boolean isOver(Object task) {
    if (task instanceof CompletableFuture) {
      return U.getReferenceVolatile(task, COMPLETABLE_RESULT) != null;
    }
    return task instanceof FutureTask ? U.getIntVolatile(task, FUTURE_STATE) > FUTURE_COMPLETING
        : task instanceof ForkJoinTask && ((ForkJoinTask<?>) task).isDone();
  }

  private static int idToWaitFor(Object task) {
    long field = fieldOf(task);
    int word = field < 0 ? SILENT : wordOf(task, field);
    return (word & ID) == 0 ? NONE : word & ID;
  }

  /** Whether a wait that returned got no result: for waits that report this by their result, not by an exception. */
  private static boolean isUndone(Object task) {
    if (task instanceof Thread) {
      return ((Thread) task).isAlive();
    }
    return task instanceof Future && !(task instanceof FutureTask) && !(task instanceof CompletableFuture)
        && !(task instanceof ForkJoinTask) && frameworkField(task.getClass()) >= 0 && !((Future<?>) task).isDone();
  }

  public static void waitEnd(Throwable failure, long token, Object task) {
    if (token == 0) {
      return;
    }
    Thread thread = Thread.currentThread();
    if ((token & 1) != 0) {
      int outcome = failure == null && isUndone(task) ? TIMEOUT : outcomeOf(failure);
      boolean got = task != null && outcome != TIMEOUT && outcome != INTERRUPTED;
      int id = got ? idToWaitFor(task) : NONE;
      long began = ContrafactCosts.begin(id);
      if (token == WAIT_OVER) {
        emitAlso(thread, WAIT_END, id, outcome);
      } else {
        emit(thread, WAIT_END, id, outcome);
      }
      ContrafactCosts.end(WAIT_END, began);
    }
    U.putInt(thread, QUIET, U.getInt(thread, QUIET) - 1);
  }

  /** As waitEnd, of a wait for whichever comes first: `result` is the future that came, or null. */
  public static void takeEnd(Throwable failure, long token, Object result) {
    if (token == 1 && failure == null && result == null) {
      emit(Thread.currentThread(), WAIT_END, NONE, TIMEOUT);
      token = 2;
    }
    waitEnd(failure, token, result);
  }

  static long idleBegin(int pool, int queued) {
    Thread thread = Thread.currentThread();
    int quiet = U.getInt(thread, QUIET);
    U.putInt(thread, QUIET, quiet + 1);
    if (quiet > 0 || pool < 0) {
      return 2;
    }
    emit(thread, WORKER_IDLE, pool, queued);
    return (long) pool << 32 | 1;
  }

  static void idleEnd(long token, int queued) {
    Thread thread = Thread.currentThread();
    if ((token & 1) != 0) {
      emit(thread, WORKER_BUSY, (int) (token >>> 32), queued);
    }
    U.putInt(thread, QUIET, U.getInt(thread, QUIET) - 1);
  }

  private static long blockBegin(int reason) {
    if (!live) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    int quiet = U.getInt(thread, QUIET);
    if (quiet > 0) {
      U.putLong(thread, STOPPED, System.nanoTime());
      return 0;
    }
    if (thread.getClass() == CARRIER) {
      return 0;
    }
    U.putInt(thread, QUIET, 1);
    long began = ContrafactCosts.began();
    int context = context();
    ContrafactSetLog.part(thread);
    emit(thread, BLOCK_BEGIN, reason, context);
    ContrafactCosts.ended(BLOCK_BEGIN, began);
    if (carrier() != thread) {
      U.putLong(thread, STOPPED, System.nanoTime());
      U.putInt(thread, STOPPED_AT, context);
    }
    return 1 | (long) reason << 1;
  }

  /** A thread may have said before what it waits for (LockSupport.setCurrentBlocker). */
  public static long parkBegin() {
    long token = blockBegin(PARK);
    if (token != 0) {
      ContrafactLocks.blockedOn(Thread.currentThread());
    }
    return token;
  }

  /** `blocker` is the object that the thread waits for. */
  public static long parkBegin(Object blocker) {
    long token = blockBegin(PARK);
    if (token != 0 && blocker != null) {
      ContrafactLocks.blockedOn(Thread.currentThread(), blocker);
    }
    return token;
  }

  public static long sleepBegin() {
    return blockBegin(SLEEP);
  }

  /** Before a call that waits for one socket. */
  public static long ioBegin() {
    return blockBegin(IO);
  }

  /** Before a call that waits until one of several sockets is ready, or for so many milliseconds. */
  public static long pollBegin(int timeout) {
    return timeout == 0 ? 0 : blockBegin(POLL);
  }

  /** A block that was over at this time: there was no telling that the call would wait. */
  static void blocked(Thread thread, int reason, long began, long over) {
    if (U.getInt(thread, QUIET) == 0 && thread.getClass() != CARRIER) {
      emitAt(thread, BLOCK_BEGIN, began, reason, context());
      emitAt(thread, BLOCK_END, over, reason);
    }
  }

  public static void blockEnd(Throwable failure, long token) {
    if (token != 0) {
      long began = ContrafactCosts.began();
      Thread thread = Thread.currentThread();
      emit(thread, BLOCK_END, (int) (token >> 1));
      if (carrier() != thread) {
        ContrafactThreads.stayed(thread, U.getInt(thread, STOPPED_AT));
      }
      U.putInt(thread, QUIET, U.getInt(thread, QUIET) - 1);
      ContrafactCosts.ended(BLOCK_END, began);
    }
  }

  /**
   * Whether an event of the thread, now, would take the time of its request for a lock from it, which is emitted once it has the lock.
   * Such are those of a reader that wakes the next one, and that counts its holds for the first time.
   */
  private static boolean isRequesting(Thread thread) {
    return U.getInt(thread, QUIET) >= REQUESTING;
  }

  public static void unparking(Thread target) {
    if (live && target != null) {
      long began = ContrafactCosts.began();
      int id = threadId(target);
      Thread thread = Thread.currentThread();
      if (id >= 0 && thread.getClass() != CARRIER && !isRequesting(thread)) {
        emit(thread, WAKE, id);
        ContrafactCosts.ended(WAKE, began);
      }
    }
  }

  /** Somebody is about to notify the thread that has waited longest at `monitor`: HotSpot picks that one, too. */
  public static void notifying(Object monitor) {
    if (live && monitor != null) {
      wakeNext(Thread.currentThread(), monitor);
    }
  }

  public static void notifyingAll(Object monitor) {
    if (live && monitor != null) {
      Thread thread = Thread.currentThread();
      while (wakeNext(thread, monitor)) {
        // The next one.
      }
    }
  }

  private static boolean wakeNext(Thread thread, Object monitor) {
    if (thread.getClass() == CARRIER) {
      return false;
    }
    int id = nextWaiting(monitor);
    if (id < 0) {
      return false;
    }
    emit(thread, WAKE, id);
    return true;
  }

  // ---- ThreadPoolExecutor

  /** A pool, of threads or of other things, is made here. The agent reads the field when the pool gets its number. */
  public static void made(Object pool) {
    long field = live ? ContrafactTasks.madeField(pool.getClass()) : NONE;
    if (field >= 0) {
      U.putInt(pool, field, context() + 1);
    }
  }

  public static long executing(ThreadPoolExecutor pool, Runnable command) {
    if (!live || command == null || U.getInt(pool, THREAD_POOL) == UNKNOWN) {
      return 0;
    }
    long time = System.nanoTime();
    Thread thread = Thread.currentThread();
    int flags = U.getInt(thread, FLAGS);
    if ((flags & FLAG_RESUBMITTING) != 0) {
      U.putInt(thread, FLAGS, flags & ~FLAG_RESUBMITTING);
      return 0;
    }
    if (ContrafactExecutors.isHandedOn(thread, command)) {
      return 0;
    }
    boolean timed = ContrafactCosts.begin(U.getInt(thread, NEXT_ID)) != 0;
    boolean isTask = spawn(thread, command, poolOf(pool), time);
    ContrafactCosts.end(TASK_SPAWN, timed ? time : 0);
    return isTask ? 1 : 0;
  }

  /** The call that began with executing() or delayed() is over. */
  public static void executed(Throwable failure, long token) {
    if (token != 0) {
      emit(Thread.currentThread(), TASK_HANDED);
    }
  }

  /** A pool is shut down, which wakes its workers. */
  public static long closing(ThreadPoolExecutor pool) {
    if (!live || U.getInt(pool, THREAD_POOL) <= 0) {
      return 0;  // it never got a task
    }
    int number = poolOf(pool);
    emit(Thread.currentThread(), POOL_CLOSE, number);
    return (long) number << 1 | 1;
  }

  public static void closed(Throwable failure, long token) {
    if (token != 0) {
      emit(Thread.currentThread(), POOL_CLOSED, (int) (token >>> 1));
    }
  }

  /**
   * Hands `command` to a pool: true if it is a task. A task that has no field of its own is remembered in
   * ContrafactQueued until it starts. `time` is from before the pool is described and the stack is looked at: these are
   * no part of the program's code before the call.
   */
  static boolean spawn(Thread thread, Object command, int pool, long time) {
    Object task = command;
    if (command.getClass() == QUEUEING_FUTURE) {
      U.putInt(command, FUTURE, SILENT);
      task = U.getReference(command, QUEUEING_TASK);
    }
    long field = fieldOf(task);
    if (field < 0) {
      if ((beginning(task.getClass(), AT_WORKERS) & NO_TASK) == 0) {
        int id = newTask();
        emitAt(thread, TASK_SPAWN, time, id, ContrafactContexts.ofTask(task), pool, bodyOf(task));
        ContrafactQueued.put(task, id);
        return true;
      }
      return false;
    }
    int word = task instanceof AsynchronousCompletionTask ? U.getInt(task, field) : idToSpawn(task, field);
    if (word == 0 || word == SILENT) {
      return false;
    }
    emitAt(thread, TASK_SPAWN, time, word & ID, context(), pool, bodyOf(task));
    return true;
  }

  /** A task that ran before (a periodic one, one that was reset) is a new task each time it is handed out. */
  static int idToSpawn(Object task, long field) {
    int word = wordOf(task, field);
    if (word == SILENT) {
      return word;
    }
    if ((word & (STARTED | COMPLETED)) != 0) {
      word = newTask();
    } else if ((word & SPAWNED) != 0) {
      return 0;
    }
    U.putInt(task, field, word | SPAWNED);
    return word;
  }

  public static void rejected(Throwable failure, Object rejecting, Object command) {
    if (!live || command == null) {
      return;
    }
    ThreadPoolExecutor pool = (ThreadPoolExecutor) rejecting;
    RejectedExecutionHandler handler = pool.getRejectedExecutionHandler();
    if (failure != null || handler instanceof ThreadPoolExecutor.DiscardPolicy
        || pool.isShutdown() && (handler instanceof ThreadPoolExecutor.CallerRunsPolicy
            || handler instanceof ThreadPoolExecutor.DiscardOldestPolicy)) {
      dropped(command);
    }
  }

  /** `command` left a pool's queue and will not run. */
  public static void dropped(Object command) {
    if (!live || command == null) {
      return;
    }
    if (command.getClass() == QUEUEING_FUTURE) {
      command = U.getReference(command, QUEUEING_TASK);
    }
    long field = fieldOf(command);
    int id;
    if (field < 0) {
      id = ContrafactQueued.take(command);
    } else {
      int word = U.getInt(command, field);
      boolean pending = (word & (STARTED | DROPPED | SPAWNED)) == SPAWNED
          || command instanceof AsynchronousCompletionTask && (word & DROPPED) == 0;
      id = pending && mark(command, field, DROPPED) ? word & ID : 0;
    }
    if (id != 0) {
      emit(Thread.currentThread(), TASK_DROP, id);
    }
  }

  public static void removed(boolean removed, Object command) {
    if (removed) {
      dropped(command);
    }
  }

  public static void drained(List<?> commands) {
    if (live) {
      for (int i = 0; i < commands.size(); i++) {
        dropped(commands.get(i));
      }
    }
  }

  /** The next execute() on this thread is of a task that was spawned before. */
  public static void resubmitting() {
    Thread thread = Thread.currentThread();
    U.putInt(thread, FLAGS, U.getInt(thread, FLAGS) | FLAG_RESUBMITTING);
  }

  /** Somebody calls a Runnable. The JDK's own futures report themselves. */
  public static long bareStart(Object command) {
    return start(command, AT_CALLS);
  }

  /** As bareStart, where a worker of a pool of the JDK's calls one of its queue. */
  public static long workerStart(Object command) {
    return start(command, AT_WORKERS | AT_CALLS);
  }

  private static long start(Object command, int places) {
    if (!live || command == null) {
      return 0;
    }
    int begins = beginning(command.getClass());
    return (begins & places) == 0 || (begins & BY_ITSELF) != 0 ? 0 : ContrafactExecutors.begin(command);
  }

  public static void bareEnd(Throwable failure, long token) {
    if (token != 0) {
      endTask(Thread.currentThread(), token, failure == null ? NORMAL : EXCEPTION);
    }
  }

  public static long taking(Object pool, Object queue) {
    if (!live) {
      return 0;
    }
    if (!(pool instanceof ThreadPoolExecutor)) {
      return idleBegin(poolOf(pool), queued(queue));
    }
    return idleBegin(U.getInt(pool, THREAD_POOL) == UNKNOWN ? NONE : poolOf((ThreadPoolExecutor) pool), queued(queue));
  }

  public static void took(long token, Object queue) {
    if (token != 0) {
      idleEnd(token, queued(queue));
    }
  }

  /** Only of queues that know it without a lock. */
  private static int queued(Object queue) {
    return queue instanceof java.util.concurrent.LinkedBlockingQueue
        ? ((java.util.concurrent.LinkedBlockingQueue<?>) queue).size() : UNKNOWN;
  }

  public static void sized(ThreadPoolExecutor pool, int control) {
    if (live && U.getInt(pool, THREAD_POOL) != UNKNOWN) {
      emit(Thread.currentThread(), POOL_SIZE, poolOf(pool), control & (1 << 29) - 1);
    }
  }

  /** Of a ScheduledThreadPoolExecutor: spawned, but not to start before its time. */
  public static long delayed(ThreadPoolExecutor pool, java.util.concurrent.Delayed task) {
    if (!live || U.getInt(pool, THREAD_POOL) == UNKNOWN) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    long time = System.nanoTime();
    boolean isTask = spawn(thread, task, poolOf(pool), time);
    long field = fieldOf(task);
    if (field >= 0 && task.getClass().getClassLoader() == null) {  // never the program's own getDelay
      emit(thread, TASK_DELAY, U.getInt(task, field) & ID, microseconds(task.getDelay(TimeUnit.MICROSECONDS)));
    }
    return isTask ? 1 : 0;
  }

  static int microseconds(long value) {
    return value < 0 ? 0 : value > 0xfffffffeL ? UNKNOWN - 1 : (int) value;
  }

  // ---- FutureTask

  public static long futureStart(FutureTask<?> task) {
    if (!live) {
      return 0;
    }
    int word = wordOf(task, FUTURE);
    if (word == SILENT) {
      return 0;
    }
    long began = ContrafactCosts.begin(word);
    mark(task, FUTURE, STARTED);
    Thread thread = Thread.currentThread();
    ContrafactExecutors.forget(thread);
    long token = startTask(thread, word & ID);
    ContrafactCosts.end(TASK_START, began);
    return token;
  }

  public static void futureEnd(long token, int outcome) {
    if (token != 0) {
      long began = ContrafactCosts.begin((int) (token >>> 32));
      endTask(Thread.currentThread(), token, outcome);
      ContrafactCosts.end(TASK_END, began);
    }
  }

  public static void futureDone(FutureTask<?> task, int outcome) {
    if (!live || U.getIntVolatile(task, FUTURE_STATE) != 0) {
      return;
    }
    if (outcome == CANCELLED && U.getReferenceVolatile(task, FUTURE_RUNNER) == Thread.currentThread()) {
      outcome = NORMAL;  // it disposes of itself, as tasks of reactive libraries do at their end: it did run
    }
    int word = wordOf(task, FUTURE);
    long began = ContrafactCosts.begin(word);
    if (mark(task, FUTURE, COMPLETED) && (word & COMPLETED) == 0) {
      Thread thread = Thread.currentThread();
      emit(thread, TASK_COMPLETE, word & ID, outcome);
      ContrafactCosts.end(TASK_COMPLETE, began);
      if (outcome == CANCELLED) {
        dropped(task);
      }
    }
  }

  /** The lambda metafactory made a class. Needs nothing but the class's own field, so it works from the very start. */
  public static void lambda(Class<?> proxy, Class<?> host, String method, String descriptor) {
    if (live) {
      ContrafactTasks.lambda(proxy, host, method, descriptor);
    }
  }

  // ---- function events

  public static void enter(int method) {
    if (!live) {
      return;
    }
    Thread thread = Thread.currentThread();
    if (!isRequesting(thread)) {
      emit(thread, METHOD_ENTER, method);
    }
  }

  public static void exit(int method, int outcome) {
    if (!live) {
      return;
    }
    Thread thread = Thread.currentThread();
    if (!isRequesting(thread)) {
      emit(thread, METHOD_EXIT, method, outcome);
    }
  }
}
