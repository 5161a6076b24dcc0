import java.io.Serializable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntSupplier;

/** Cases of {@link Sets}: how a section begins and ends, and who observes it. */
final class SetsOfLocks extends Sets {
  /** A lock of the program's own. */
  static class Gate implements Stranger.Gate {
    private final ReentrantLock lock = new ReentrantLock();

    @Override
    public void enter() {
      lock.lock();
    }

    @Override
    public void leave() {
      lock.unlock();
    }
  }

  static final class Guard implements AutoCloseable {
    private final ReentrantLock lock;

    Guard(ReentrantLock lock) {
      this.lock = lock;
      lock.lock();
    }

    @Override
    public void close() {
      lock.unlock();
    }
  }

  abstract static class Entry {
    abstract void enter(Stranger.Gate gate, Stranger.Data data);
  }

  static void nothing() {}

  static void twiceNothing() {
    nothing();
    nothing();
  }

  @SuppressWarnings("serial")
  static class Kept implements Serializable {
    int x;
    static int shared;

    synchronized void more() {
      x = x + 1;
    }

    synchronized int look() {
      return x;
    }

    static synchronized void moreShared() {
      shared = shared + 1;
    }

    static synchronized int lookShared() {
      return shared;
    }
  }

  @Expect("conflict")
  static final class Nested extends Case {
    int x;
    final Object inner = new Object();

    @Override
    void a() {
      synchronized (this) {
        synchronized (inner) {
          x = x + 1;
        }
      }
    }

    @Override
    void b() {
      synchronized (this) {
        synchronized (inner) {
          int read = x;
        }
      }
    }
  }

  @Expect("conflict")
  static final class NestedBehind extends Case {
    int x;
    int y;
    final Object inner = new Object();

    @Override
    void a() {
      synchronized (this) {
        synchronized (inner) {
          x = x + 1;
        }
        y = 1;
      }
    }

    @Override
    void b() {
      synchronized (this) {
        y = 2;
        synchronized (inner) {
          int read = x;
        }
      }
    }
  }

  @Expect("null")
  static final class NestedOfBorn extends Case {
    final Object inner = new Object();

    @Override
    void a() {
      synchronized (this) {
        Stranger.Data data = new Stranger.Data();
        synchronized (inner) {
          data.hashCode();
        }
      }
    }

    @Override
    void b() {
      a();
    }
  }

  @Expect("read-read")
  static final class NestedReadOnly extends Case {
    int x;
    final Object inner = new Object();

    @Override
    void a() {
      synchronized (this) {
        synchronized (inner) {
          int read = x;
        }
      }
    }

    @Override
    void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Throwing extends Case {
    int x;
    void failing() {
      synchronized (this) {
        x = x + 1;
        throw new IllegalStateException();
      }
    }

    @Override
    void a() {
      try {
        failing();
      } catch (IllegalStateException expected) {
        Thread.onSpinWait();
      }
    }

    @Override
    void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class ThrowingInLibrary extends Case {
    int x;

    @Override
    synchronized void a() {
      try {
        java.util.List.of(1, 2).iterator().remove();
      } catch (UnsupportedOperationException expected) {
        x = x + 1;
      }
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("conflict")
  static final class CaughtOutside extends Case {
    int x;
    synchronized int failing(int[] array) {
      x = x + 1;
      return array[1];
    }

    @Override
    void a() {
      try {
        failing(new int[1]);
      } catch (ArrayIndexOutOfBoundsException expected) {
        synchronized (this) {
          int read = x;
        }
      }
    }

    @Override
    void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Recursive extends Case {
    int x;
    void deeper(int depth) {
      synchronized (this) {
        if (depth > 0) {
          deeper(depth - 1);
        } else {
          x = x + 1;
        }
      }
    }

    @Override
    synchronized void a() {
      deeper(5);
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("conflict")
  static final class RecursiveBehind extends Case {
    int x;
    synchronized void nothing() {}

    @Override
    synchronized void a() {
      nothing();
      x = x + 1;
    }

    @Override
    synchronized void b() {
      nothing();
      int read = x;
    }
  }

  @Expect("conflict")
  static final class Waiting extends Case {
    int x;

    @Override
    synchronized void a() throws Exception {
      x = x + 1;
      notifyAll();
    }

    @Override
    synchronized void b() throws Exception {
      int before = x;
      wait(1);
      int read = x;
    }
  }

  @Expect("conflict")
  static final class WaitingTwice extends Case {
    int x;
    synchronized void waiting() throws InterruptedException {
      wait(1);
      x = x + 1;
    }

    @Override
    synchronized void a() throws Exception {
      x = x + 1;
      waiting();
      x = x + 1;
    }

    @Override
    synchronized void b() throws Exception {
      x = x + 1;
      waiting();
    }
  }

  @Expect("conflict")
  static final class Reentrant extends Case {
    int x;
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() {
      lock.lock();
      try {
        x = x + 1;
      } finally {
        lock.unlock();
      }
    }

    @Override
    void b() {
      lock.lock();
      int read = x;
      lock.unlock();
    }
  }

  @Expect("read-read")
  static final class ReentrantReads extends Case {
    int x;
    final Lock lock = new ReentrantLock();

    @Override
    void a() {
      lock.lock();
      int read = x;
      lock.unlock();
    }

    @Override
    void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Tried extends Case {
    int x;
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() throws Exception {
      if (lock.tryLock()) {
        x = x + 1;
        lock.unlock();
      }
    }

    @Override
    void b() throws Exception {
      if (lock.tryLock(1, TimeUnit.SECONDS)) {
        int read = x;
        lock.unlock();
      }
    }
  }

  @Expect("conflict")
  static final class Interruptible extends Case {
    int x;
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() throws Exception {
      lock.lockInterruptibly();
      x = x + 1;
      lock.unlock();
    }

    @Override
    void b() throws Exception {
      a();
    }
  }

  @Expect("conflict")
  static final class LockedTwice extends Case {
    int x;
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() {
      lock.lock();
      lock.lock();
      lock.unlock();
      x = x + 1;
      lock.unlock();
    }

    @Override
    void b() {
      lock.lock();
      int read = x;
      lock.unlock();
    }
  }

  @Expect("conflict")
  static final class ReadersAndWriters extends Case {
    int x;
    final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    @Override
    void a() {
      lock.writeLock().lock();
      x = x + 1;
      lock.writeLock().unlock();
    }

    @Override
    void b() {
      lock.readLock().lock();
      int read = x;
      lock.readLock().unlock();
    }
  }

  @Expect("read-read")
  static final class WritersThatRead extends Case {
    int x;
    final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    @Override
    void a() {
      lock.writeLock().lock();
      int read = x;
      lock.writeLock().unlock();
    }

    @Override
    void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Awaiting extends Case {
    int x;
    final ReentrantLock lock = new ReentrantLock();
    final Condition condition = lock.newCondition();

    @Override
    void a() throws Exception {
      lock.lock();
      x = x + 1;
      condition.signalAll();
      lock.unlock();
    }

    @Override
    void b() throws Exception {
      lock.lock();
      x = x + 1;
      condition.await(1, TimeUnit.MILLISECONDS);
      int read = x;
      lock.unlock();
    }
  }

  @Expect("conflict")
  static final class StaticSynchronized extends Case {
    static int x;
    static synchronized void more() {
      x = x + 1;
    }
    static synchronized int look() {
      return x;
    }

    @Override
    void a() {
      more();
    }

    @Override
    void b() {
      look();
    }
  }

  @Expect("conflict")
  static final class KeptModifier extends Case {
    final OfThis kept = new OfThis();
    @SuppressWarnings("serial")
    static final class OfThis extends Kept {
      @Override
      synchronized void more() {
        x = x + 1;
      }
      @Override
      synchronized int look() {
        return x;
      }
    }

    @Override
    void a() {
      kept.more();
    }

    @Override
    void b() {
      kept.look();
    }
  }

  @Expect("conflict")
  static final class KeptStaticModifier extends Case {
    @SuppressWarnings("serial")
    static final class OfClass implements Serializable {
      static int x;
      static synchronized void more() {
        x = x + 1;
      }
      static synchronized int look() {
        return x;
      }
    }

    @Override
    void a() {
      OfClass.more();
    }

    @Override
    void b() {
      OfClass.look();
    }
  }

  @Expect("read-read")
  static final class KeptModifierReads extends Case {
    final OfThis kept = new OfThis();
    @SuppressWarnings("serial")
    static final class OfThis implements Serializable {
      int x;
      synchronized int look() {
        return x;
      }
    }

    @Override
    void a() {
      kept.look();
    }

    @Override
    void b() {
      kept.look();
    }
  }

  @Expect("conflict")
  static final class OwnLock extends Case {
    int x;
    final OfThis gate = new OfThis();
    static final class OfThis {
      final ReentrantLock lock = new ReentrantLock();
      void enter() {
        lock.lock();
      }
      void leave() {
        lock.unlock();
      }
    }

    @Override
    void a() {
      gate.enter();
      x = x + 1;
      gate.leave();
    }

    @Override
    void b() {
      gate.enter();
      int read = x;
      gate.leave();
    }
  }

  @Expect("read-read")
  static final class OwnLockReads extends Case {
    int x;
    final OfThis gate = new OfThis();
    static final class OfThis {
      final ReentrantLock lock = new ReentrantLock();
      void enter() {
        lock.lock();
      }
      void leave() {
        lock.unlock();
      }
    }

    @Override
    void a() {
      gate.enter();
      int read = x;
      gate.leave();
    }

    @Override
    void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class StrangerInside extends Case {
    final Stranger.Data data = new Stranger.Data();

    @Override
    synchronized void a() {
      Stranger.more(data);
    }

    @Override
    synchronized void b() {
      int read = data.x;
    }
  }

  @Expect("unknown")
  static final class StrangerWithin extends Case {
    final Stranger.Data data = new Stranger.Data();
    final OfThis gate = new OfThis();
    static final class OfThis extends Gate {
      final ReentrantLock own = new ReentrantLock();
      @Override
      public void enter() {
        own.lock();
      }
      @Override
      public void leave() {
        own.unlock();
      }
    }

    @Override
    void a() {
      Stranger.moreInside(gate, data);
    }

    @Override
    void b() {
      gate.enter();
      int read = data.x;
      gate.leave();
    }
  }

  @Expect("unknown")
  static final class StrangerBeforeChosen extends Case {
    final Stranger.Data data = new Stranger.Data();
    final OfThis gate = new OfThis();
    static final class OfThis extends Gate {
      final ReentrantLock own = new ReentrantLock();
      @Override
      public void enter() {
        own.lock();
      }
      @Override
      public void leave() {
        own.unlock();
      }
    }

    @Override
    void a() {
      Stranger.moreBefore(gate, data, SetsOfLocks::twiceNothing);
    }

    @Override
    void b() {
      gate.enter();
      int read = data.x;
      gate.leave();
    }
  }

  @Expect("unknown")
  static final class StrangerThenChosen extends Case {
    final Stranger.Data data = new Stranger.Data();
    final OfThis gate = new OfThis();
    static final class OfThis extends Gate {
      final ReentrantLock own = new ReentrantLock();
      @Override
      public void enter() {
        own.lock();
      }
      @Override
      public void leave() {
        own.unlock();
      }
    }

    @Override
    void a() {
      Stranger.enterAndMore(gate, data);
      twiceNothing();
      gate.leave();
    }

    @Override
    void b() {
      gate.enter();
      int read = data.x;
      gate.leave();
    }
  }

  @Expect("unknown")
  static final class StrangerOfChosenType extends Case {
    final Stranger.Data data = new Stranger.Data();
    final OfThis gate = new OfThis();
    final Entry entry = new Stranger.Entering();
    static final class OfThis extends Gate {
      final ReentrantLock own = new ReentrantLock();
      @Override
      public void enter() {
        own.lock();
      }
      @Override
      public void leave() {
        own.unlock();
      }
    }

    @Override
    void a() {
      entry.enter(gate, data);
      twiceNothing();
      gate.leave();
    }

    @Override
    void b() {
      gate.enter();
      int read = data.x;
      gate.leave();
    }
  }

  @Expect("unknown")
  static final class StrangerOfFailing extends Case {
    final Stranger.Data data = new Stranger.Data();
    final OfThis gate = new OfThis();
    static final class OfThis extends Gate {
      final ReentrantLock own = new ReentrantLock();
      @Override
      public void enter() {
        own.lock();
        throw new IllegalStateException();
      }
      @Override
      public void leave() {
        own.unlock();
      }
    }

    @Override
    void a() {
      Stranger.enterFailing(gate, data);
    }

    @Override
    void b() {
      gate.own.lock();
      int read = data.x;
      gate.leave();
    }
  }

  @Expect("unknown")
  static final class StrangerBehindLambda extends Case {
    final Stranger.Data data = new Stranger.Data();
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() {
      Stranger.moreBehind(() -> lock.lock(), data);
      lock.unlock();
    }

    @Override
    void b() {
      lock.lock();
      int read = data.x;
      lock.unlock();
    }
  }

  @Expect("unknown")
  static final class StrangerBehindReference extends Case {
    final Stranger.Data data = new Stranger.Data();
    final OfThis gate = new OfThis();
    static final class OfThis extends Gate {
      final ReentrantLock own = new ReentrantLock();
      @Override
      public void enter() {
        own.lock();
      }
      @Override
      public void leave() {
        own.unlock();
      }
    }

    @Override
    void a() {
      Stranger.moreBehind(gate::enter, data);
      twiceNothing();
      gate.leave();
    }

    @Override
    void b() {
      gate.enter();
      int read = data.x;
      gate.leave();
    }
  }

  @Expect("unknown")
  static final class LongMethod extends Case {
    final Stranger.Data data = new Stranger.Data();

    @Override
    synchronized void a() {
      Stranger.longTable(data);
    }

    @Override
    synchronized void b() {
      int read = data.x;
    }
  }

  @Expect("conflict")
  static final class LambdaInside extends Case {
    int x;
    int twice(IntSupplier next) {
      return next.getAsInt() + next.getAsInt();
    }

    @Override
    synchronized void a() {
      twice(() -> x = x + 1);
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("unknown")
  static final class GuardOfStranger extends Case {
    final Stranger.Data data = new Stranger.Data();
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() {
      Stranger.moreGuarded(lock, data);
    }

    @Override
    void b() {
      lock.lock();
      int read = data.x;
      lock.unlock();
    }
  }

  @Expect("unknown")
  static final class LongMethodOfChosen extends Case {
    final Stranger.Data data = new Stranger.Data();

    @Override
    synchronized void a() {
      SetsTooLong.more(data);
    }

    @Override
    synchronized void b() {
      int read = data.x;
    }
  }

  @Expect("unknown")
  static final class LongMethodThatLocks extends Case {
    final Stranger.Data data = new Stranger.Data();

    @Override
    void a() {
      SetsTooLong.moreLocked(this, data);
    }

    @Override
    void b() {
      synchronized (this) {
        int read = data.x;
      }
    }
  }

  @Expect("unknown")
  static final class LongMethodThatTakes extends Case {
    final Stranger.Data data = new Stranger.Data();
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() {
      SetsTooLong.moreTaken(lock, data);
    }

    @Override
    void b() {
      lock.lock();
      int read = data.x;
      lock.unlock();
    }
  }

  @Expect("unknown")
  static final class ManyArguments extends Case {
    final Stranger.Data data = new Stranger.Data();

    @Override
    synchronized void a() {
      Stranger.moreOfMany(data);
    }

    @Override
    synchronized void b() {
      int read = data.x;
    }
  }

  /** One byte more, and HotSpot would not compile it. */
  @Expect("unknown")
  static final class NearlyTooLong extends Case {
    final Stranger.Data data = new Stranger.Data();

    @Override
    synchronized void a() {
      Stranger.nearlyTooLong(data);
    }

    @Override
    synchronized void b() {
      int read = data.x;
    }
  }

  @Expect("unknown,conflict")
  static final class InInitialiser extends Case {
    static final Object LOCK = new Object();
    static int x;

    static final class Initialised {
      static final int NUMBER;

      static {
        synchronized (LOCK) {
          NUMBER = x = x + 1;
        }
      }
    }

    @Override
    void a() {
      if (Initialised.NUMBER > 0) {
        synchronized (LOCK) {
          x = x + 1;
        }
      }
    }

    @Override
    void b() {
      synchronized (LOCK) {
        int read = x;
      }
    }
  }

  @Expect("read-read")
  static final class Guarded extends Case {
    int x;
    final ReentrantLock lock = new ReentrantLock();

    static final class Own implements AutoCloseable {
      private final ReentrantLock lock;

      Own(ReentrantLock lock) {
        this.lock = lock;
        lock.lock();
      }

      @Override
      public void close() {
        lock.unlock();
      }
    }

    @Override
    @SuppressWarnings("try")
    void a() {
      try (Own guard = new Own(lock)) {
        int read = x;
      }
    }

    @Override
    void b() {
      a();
    }
  }
}
