package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;

import java.lang.ref.WeakReference;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The probes of the JDK's blocking queues, of which some are pools: each element that a thread takes, the same thread puts back
 * later. What is handed from thread to thread is none, nor is what holds tasks. While it is not known what a queue is, each
 * thread remembers what it took and has not put back. A queue is a pool once threads waited for its elements,
 * elements came back, and hardly any left or came otherwise; one that turns out to be none after all is taken back. Nothing is
 * kept alive, and no method of an element is called.
 */
public final class ContrafactQueues {
  // Which class a queue is of: src/agent_jvm/probes_queue.cc.
  private static final int ARRAY = 0;
  private static final int LINKED = 1;
  private static final int CLASS = 3;
  private static final int WAITS = 4;  // added where the method waits for an element

  private static final long USE_OF_ARRAY = U.objectFieldOffset(ArrayBlockingQueue.class, "contrafactUse");
  private static final long USE_OF_LINKED = U.objectFieldOffset(LinkedBlockingQueue.class, "contrafactUse");
  private static final long USE_OF_DEQUE = U.objectFieldOffset(LinkedBlockingDeque.class, "contrafactUse");
  private static final long COUNT_OF_ARRAY = U.objectFieldOffset(ArrayBlockingQueue.class, "count");
  private static final long COUNT_OF_LINKED = U.objectFieldOffset(LinkedBlockingQueue.class, "count");
  private static final long COUNT_OF_DEQUE = U.objectFieldOffset(LinkedBlockingDeque.class, "count");
  private static final long HELD = U.objectFieldOffset(Thread.class, "contrafactBorrowed");
  private static final long NUMBER = U.objectFieldOffset(Use.class, "number");
  private static final long RETURNS = U.objectFieldOffset(Use.class, "returns");
  private static final long ARRIVALS = U.objectFieldOffset(Use.class, "arrivals");
  private static final long STRAYS = U.objectFieldOffset(Use.class, "strays");
  private static final long TAKES = U.objectFieldOffset(Use.class, "takes");

  private static final int RETURNS_MIN = 2;       // before a queue is a pool
  private static final int RETURNS_A_STRAY = 8;   // at least
  private static final int STRAYS_ALLOWED = 16;   // of a pool, and one for every 4 returns
  private static final int LOST_MAX = 64;         // taken and not put back, beyond those that were there: they are consumed
  private static final int TAKES_MAX = 1024;      // in which it must turn out
  private static final int HELD_OF_ONE = 2;       // elements of one queue that a thread holds at a time
  private static final int HELD_MAX = 16;         // of all

  private static final Use NO_POOL = new Use(0);

  private ContrafactQueues() {}

  /** What is known of a queue. */
  private static final class Use {
    final int filled;      // elements at the first taking
    volatile int number;   // as a pool, plus one; 0: it is none yet
    volatile int takes;
    volatile int returns;  // by the thread that took the element
    volatile int arrivals; // elements put in that the thread had not taken from there
    volatile int strays;   // these, and those that were not put back
    volatile boolean waited;  // a method that waits took one: where none does, the program goes on without

    Use(int filled) {
      this.filled = filled;
    }
  }

  /** An element that a thread took and has not put back. */
  private static final class Held extends WeakReference<Object> {
    final Use use;
    final boolean told;  // that it was taken
    Held next;           // taken before

    Held(Object element, Use use, boolean told, Held next) {
      super(element);
      this.use = use;
      this.told = told;
      this.next = next;
    }
  }

  static void prepare() {
    addQueue(null, null, 0);
    removeQueue(0);
  }

  /** The number plus one of a queue that holds so many elements of such a class; -1: there are too many. */
  private static native int addQueue(Object queue, Object element, int size);

  /** It is no pool. */
  private static native void removeQueue(int number);

  /** `element` has left the queue; null: there was none in time. */
  public static void taken(Object element, Object queue, int kind) {
    if (element == null || !live) {
      return;
    }
    long field = field(kind & CLASS);
    Use use = (Use) U.getReferenceAcquire(queue, field);
    if (use == NO_POOL) {
      return;
    }
    if (use == null) {
      Use made = isTask(element) ? NO_POOL : new Use(count(queue, kind & CLASS) + 1);
      use = U.compareAndSetReference(queue, field, null, made) ? made : (Use) U.getReferenceAcquire(queue, field);
      if (use == NO_POOL) {
        return;
      }
    }
    int number = use.number;
    remember(element, use, number > 0);
    if (number > 0) {
      emit(Thread.currentThread(), PERMIT_TAKE, number - 1, 1);
      drop(use, queue, field);
    } else {
      if ((kind & WAITS) != 0) {
        use.waited = true;
      }
      int takes = U.getAndAddInt(use, TAKES, 1);
      if (takes >= TAKES_MAX || takes - use.returns > LOST_MAX + use.filled) {
        U.compareAndSetReference(queue, field, use, NO_POOL);
      }
    }
  }

  /** `element` is about to get into the queue. */
  public static void given(Object element, Object queue, int kind) {
    if (element == null || !live) {
      return;
    }
    long field = field(kind);
    Use use = (Use) U.getReferenceAcquire(queue, field);
    if (use == null || use == NO_POOL) {
      return;  // nothing was taken from it yet: it is being filled
    }
    Held held = forget(element, use);
    if (held == null) {
      U.getAndAddInt(use, ARRIVALS, 1);
      U.getAndAddInt(use, STRAYS, 1);
      drop(use, queue, field);
      return;
    }
    int returns = U.getAndAddInt(use, RETURNS, 1) + 1;
    if (held.told) {
      emit(Thread.currentThread(), PERMIT_GIVE, use.number - 1, 1);
    } else if (use.number == 0 && use.waited && returns >= RETURNS_MIN && returns >= RETURNS_A_STRAY * use.strays) {
      decide(element, use, queue, field);
    }
  }

  private static void decide(Object element, Use use, Object queue, long field) {
    int number = isTask(element) ? NONE : addQueue(queue, element, use.filled + use.arrivals);
    if (number <= 0) {
      U.compareAndSetReference(queue, field, use, NO_POOL);
    } else if (!U.compareAndSetInt(use, NUMBER, 0, number)) {
      removeQueue(number);  // another thread was faster
    }
  }

  /** Too much gets into the pool, or out of it, otherwise than by taking and putting back. */
  private static void drop(Use use, Object queue, long field) {
    int number = use.number;
    if (number > 0 && use.strays > STRAYS_ALLOWED + use.returns / 4
        && U.compareAndSetReference(queue, field, use, NO_POOL)) {
      removeQueue(number);
    }
  }

  /** Tasks are handed from thread to thread; those that hand themselves on again are no pool either. */
  private static boolean isTask(Object element) {
    return element instanceof Runnable || element instanceof Callable;
  }

  private static void remember(Object element, Use use, boolean told) {
    Thread thread = Thread.currentThread();
    Held head = new Held(element, use, told, (Held) U.getReference(thread, HELD));
    U.putReference(thread, HELD, head);
    int all = 1;
    int same = 0;
    Held before = head;
    for (Held held = head.next; held != null; held = held.next) {
      all++;
      same += held.use == use ? 1 : 0;
      if (all > HELD_MAX || (held.use == use && same >= HELD_OF_ONE)) {
        before.next = held.next;
        U.getAndAddInt(held.use, STRAYS, 1);
        return;
      }
      before = held;
    }
  }

  private static Held forget(Object element, Use use) {
    Thread thread = Thread.currentThread();
    Held before = null;
    for (Held held = (Held) U.getReference(thread, HELD); held != null; held = held.next) {
      if (held.use == use && held.get() == element) {
        if (before == null) {
          U.putReference(thread, HELD, held.next);
        } else {
          before.next = held.next;
        }
        return held;
      }
      before = held;
    }
    return null;
  }

  private static long field(int kind) {
    return kind == ARRAY ? USE_OF_ARRAY : kind == LINKED ? USE_OF_LINKED : USE_OF_DEQUE;
  }

  /** Without its lock. */
  private static int count(Object queue, int kind) {
    if (kind == LINKED) {
      return ((AtomicInteger) U.getReference(queue, COUNT_OF_LINKED)).get();
    }
    return U.getIntVolatile(queue, kind == ARRAY ? COUNT_OF_ARRAY : COUNT_OF_DEQUE);
  }
}
