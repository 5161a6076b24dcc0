package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;
import static java.lang.ContrafactTasks.*;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletableFuture.AsynchronousCompletionTask;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * The probes of CompletableFuture and of ForkJoinTask. A dependent stage, or an asynchronous supplier, is one task: its
 * CompletableFuture; the Completion object that a pool runs carries the id of that.
 */
public final class ContrafactStages {
  private static final int ALL = 0;  // format::DependsMode
  private static final int ANY = 1;
  private static final int UNKNOWN = -1;

  private ContrafactStages() {}

  // ---- CompletableFuture

  /** `stage` depends on `source`, and on `other` if that is not null. */
  public static void created(Object stage, Object source, Object other, Object code, int mode) {
    if (!live || stage == null) {
      return;
    }
    Thread thread = Thread.currentThread();
    int id = wordOf(stage, COMPLETABLE) & ID;
    emit(thread, TASK_CREATE, id, ContrafactContexts.ofTask(code), bodyOf(code));
    depends(thread, id, source, mode);
    if (other != source) {
      depends(thread, id, other, mode);
    }
  }

  /** A source that was complete before anybody knew it constrains nothing. */
  private static void depends(Thread thread, int id, Object source, int mode) {
    if (!(source instanceof CompletableFuture)
        || U.getInt(source, COMPLETABLE) == 0 && ((CompletableFuture<?>) source).isDone()) {
      return;
    }
    int word = wordOf(source, COMPLETABLE);
    if (word != SILENT) {
      emitAlso(thread, TASK_DEPENDS, id, word & ID, mode);
    }
  }

  /** What allOf and anyOf return. */
  public static void combined(Object future, Object[] sources, int mode) {
    if (!live) {
      return;
    }
    CompletableFuture<?> stage = (CompletableFuture<?>) future;
    if (U.getInt(stage, COMPLETABLE) == SILENT) {
      U.putInt(stage, COMPLETABLE, 0);
    }
    Thread thread = Thread.currentThread();
    int id = wordOf(stage, COMPLETABLE) & ID;
    U.fullFence();
    emit(thread, TASK_CREATE, id, context(), NONE);
    for (int i = 0; i < sources.length; i++) {
      depends(thread, id, sources[i], mode);
    }
    returned(stage);
  }

  /** An inner node of allOf's tree. */
  public static void inner(Object stage) {
    if (live) {
      U.compareAndSetInt(stage, COMPLETABLE, 0, SILENT);
    }
  }

  /** `completion` was made to run the code of `stage`. */
  public static void adopt(Object completion, Object stage) {
    if (live && stage != null && completion.getClass() != UNI_RELAY && completion.getClass() != BI_RELAY) {
      U.putInt(completion, FORK_JOIN, wordOf(stage, COMPLETABLE) & ID);
    }
  }

  /** Hands an asynchronous supplier to an executor whose own events do not report it. */
  public static void handing(Executor executor, Object completion) {
    if (live && executor != null && !(executor instanceof ThreadPoolExecutor) && !(executor instanceof ForkJoinPool)) {
      emit(Thread.currentThread(), TASK_CREATE, U.getInt(completion, FORK_JOIN), context(), bodyOf(completion));
    }
  }

  /** The stage's function is called. */
  public static long stageStart(Object stage) {
    return start(stage, false);
  }

  /** As stageStart, where the stage was created just before: the time between is the probes' own. */
  public static long stageStartNow(Object stage) {
    return start(stage, true);
  }

  private static long start(Object stage, boolean now) {
    if (!live || stage == null) {
      return 0;
    }
    int word = wordOf(stage, COMPLETABLE);
    if ((word & STARTED) != 0) {
      return 0;
    }
    mark(stage, COMPLETABLE, STARTED);
    Thread thread = Thread.currentThread();
    if (now) {
      emitAlso(thread, TASK_START, word & ID);
    } else {
      emit(thread, TASK_START, word & ID);
    }
    return startQuietly(thread, word & ID);
  }

  /** It returned; `failure` is what it threw or, in whenComplete, was given. */
  public static void stageEnd(Throwable failure, long token, Object stage) {
    if (token != 0) {
      int outcome = failure == null ? NORMAL : EXCEPTION;
      Thread thread = Thread.currentThread();
      if (complete(stage, outcome)) {
        emitAlso(thread, TASK_END, (int) (token >>> 32), outcome);
        endQuietly(thread, token);
      } else {
        endTask(thread, token, outcome);
      }
    }
  }

  /** It returned another future, or a value that is not the stage's outcome yet. */
  public static void stageLeft(Throwable failure, long token, Object stage) {
    if (failure != null) {
      stageEnd(failure, token, stage);
    } else if (token != 0) {
      endTask(Thread.currentThread(), token, NORMAL);
    }
  }

  /** False if that was reported before. */
  private static boolean complete(Object stage, int outcome) {
    int word = wordOf(stage, COMPLETABLE);
    if ((word & COMPLETED) != 0 || !mark(stage, COMPLETABLE, COMPLETED)) {
      return false;
    }
    emit(Thread.currentThread(), TASK_COMPLETE, word & ID, outcome);
    return true;
  }

  public static void completing(CompletableFuture<?> stage, int outcome) {
    if (live && !stage.isDone()) {
      complete(stage, outcome);
    }
  }

  public static void relaying(CompletableFuture<?> stage, Object result) {
    if (live && !stage.isDone()) {
      complete(stage, outcomeOf(result));
    }
  }

  private static int outcomeOf(Object result) {
    if (result == null || result.getClass() != ALT_RESULT) {
      return NORMAL;
    }
    Object cause = U.getReference(result, ALT_RESULT_CAUSE);
    return cause == null ? NORMAL : cause instanceof java.util.concurrent.CancellationException ? CANCELLED : EXCEPTION;
  }

  /** A method that makes a stage returns it, perhaps complete already. */
  public static void returned(Object future) {
    if (live && future != null) {
      CompletableFuture<?> stage = (CompletableFuture<?>) future;
      int word = U.getInt(stage, COMPLETABLE);
      if (word != 0 && (word & COMPLETED) == 0 && stage.isDone()) {
        complete(stage, stage.isCompletedExceptionally() ? EXCEPTION : NORMAL);
      }
    }
  }

  // ---- ForkJoinTask

  private static boolean tellsOfItself(Object task) {
    return task instanceof AsynchronousCompletionTask;
  }

  public static void forked(ForkJoinTask<?> task) {
    if (live) {
      ForkJoinPool pool = ForkJoinTask.getPool();
      submitted(pool == null ? ForkJoinPool.commonPool() : pool, task);
    }
  }

  public static void submitted(ForkJoinPool pool, ForkJoinTask<?> task) {
    if (!live || task == null) {
      return;
    }
    Thread thread = Thread.currentThread();
    long began = ContrafactCosts.begin(U.getInt(thread, NEXT_ID));
    if (U.getInt(pool, FORK_JOIN_POOL) == UNKNOWN) {
      if (!tellsOfItself(task)) {
        U.putInt(task, FORK_JOIN, SILENT);
      }
      return;
    }
    int word = tellsOfItself(task) ? U.getInt(task, FORK_JOIN) : idToSpawn(task, FORK_JOIN);
    if (word != 0 && word != SILENT) {
      emit(thread, TASK_SPAWN, word & ID, ContrafactContexts.ofFork(task), poolOf(pool), bodyOf(task));
      ContrafactCosts.end(TASK_SPAWN, began);
    }
  }

  /** As submitted, of a task that waits for its time first. */
  public static void scheduled(ForkJoinPool pool, ForkJoinTask<?> task) {
    submitted(pool, task);
    if (live && task instanceof java.util.concurrent.Delayed && U.getInt(task, FORK_JOIN) != SILENT) {
      long delay = ((java.util.concurrent.Delayed) task).getDelay(java.util.concurrent.TimeUnit.MICROSECONDS);
      emit(Thread.currentThread(), TASK_DELAY, U.getInt(task, FORK_JOIN) & ID, microseconds(delay));
    }
  }

  public static long execStart(ForkJoinTask<?> task) {
    if (!live || tellsOfItself(task)) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    if (thread.getClass() == CARRIER) {
      return 0;
    }
    int word = wordOf(task, FORK_JOIN);
    long began = ContrafactCosts.begin(word);
    if (word == SILENT) {
      return 0;
    }
    if ((word & (STARTED | COMPLETED)) != 0) {
      U.putInt(task, FORK_JOIN, word = newTask());
    }
    mark(task, FORK_JOIN, STARTED);
    long token = startTask(thread, word & ID);
    ContrafactCosts.end(TASK_START, began);
    return token;
  }

  public static void execEnd(Throwable failure, long token, Object task) {
    if (token != 0) {
      long began = ContrafactCosts.begin((int) (token >>> 32));
      endTask(Thread.currentThread(), token, ((ForkJoinTask<?>) task).isCompletedAbnormally() ? EXCEPTION : NORMAL);
      ContrafactCosts.end(TASK_END, began);
    }
  }

  /** The task is about to be done. */
  public static void forkJoinDone(ForkJoinTask<?> task, int outcome) {
    if (!live || tellsOfItself(task) || task.isDone()) {
      return;
    }
    int word = U.getInt(task, FORK_JOIN);
    long began = ContrafactCosts.begin(word);
    if (word == 0) {
      if (Thread.currentThread().getClass() == CARRIER) {
        return;
      }
      word = wordOf(task, FORK_JOIN);
    }
    if ((word & COMPLETED) == 0 && mark(task, FORK_JOIN, COMPLETED)) {
      emit(Thread.currentThread(), TASK_COMPLETE, word & ID, outcome);
      ContrafactCosts.end(TASK_COMPLETE, began);
      if (outcome == CANCELLED) {
        dropped(task);
      }
    }
  }

  public static long forkJoinIdle(ForkJoinPool pool) {
    if (!live) {
      return 0;
    }
    return idleBegin(U.getInt(pool, FORK_JOIN_POOL) == UNKNOWN ? NONE : poolOf(pool), UNKNOWN);
  }

  public static void forkJoinBusy(Throwable failure, long token) {
    if (token != 0) {
      idleEnd(token, UNKNOWN);
    }
  }

  public static void forkJoinSized(ForkJoinPool pool) {
    if (live && U.getInt(pool, FORK_JOIN_POOL) != UNKNOWN) {
      emit(Thread.currentThread(), POOL_SIZE, poolOf(pool), pool.getPoolSize());
    }
  }

  public static long joinBegin(Object task) {
    if (!live) {
      return 0;
    }
    Thread thread = Thread.currentThread();
    int quiet = U.getInt(thread, QUIET);
    U.putInt(thread, QUIET, quiet + 1);
    if (quiet > 0) {
      return 2;
    }
    int word = wordOf(task, FORK_JOIN) & ID;
    long began = ContrafactCosts.begin(word);
    emit(thread, WAIT_BEGIN, word == 0 ? NONE : word, ContrafactContexts.ofJoin(task));
    ContrafactCosts.end(WAIT_BEGIN, began);
    return ((ForkJoinTask<?>) task).isDone() ? WAIT_OVER : 1;
  }

  public static void joinEnd(Throwable failure, long token, Object task) {
    waitEnd(failure, token, task);
  }
}
