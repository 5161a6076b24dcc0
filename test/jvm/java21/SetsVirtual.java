import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/** Cases of {@link Sets}: virtual threads, which unmount while they hold locks, and what is newer than JDK 17. */
final class SetsVirtual extends Sets {
  public static void main(String[] args) throws Exception {
    runAll(Thread.ofVirtual().factory()::newThread, args, SetsVirtual.class);
  }

  sealed interface Shape permits Circle, Square {}

  record Circle(int radius) implements Shape {}

  record Square(int side) implements Shape {}

  @Expect("conflict")
  static final class Unmounting extends Case {
    int x;
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() throws Exception {
      lock.lock();
      x = x + 1;
      Thread.sleep(2);
      x = x + 1;
      lock.unlock();
    }

    @Override
    void b() throws Exception {
      lock.lock();
      Thread.sleep(2);
      int read = x;
      lock.unlock();
    }
  }

  @Expect("read-read")
  static final class UnmountingReads extends Case {
    int x;
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() throws Exception {
      lock.lock();
      Thread.sleep(2);
      int read = x;
      lock.unlock();
    }

    @Override
    void b() throws Exception {
      a();
    }
  }

  @Expect("conflict")
  static final class UnmountingInBetween extends Case {
    int x;
    int y;
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() throws Exception {
      lock.lock();
      y = 1;
      Thread.yield();
      LockSupport.parkNanos(1_000_000);
      x = x + 1;
      lock.unlock();
    }

    @Override
    void b() throws Exception {
      lock.lock();
      LockSupport.parkNanos(1_000_000);
      int read = x;
      lock.unlock();
    }
  }

  @Expect("disjoint")
  static final class UnmountingOfOthers extends Case {
    int x;
    int y;
    final ReentrantLock lock = new ReentrantLock();

    @Override
    void a() throws Exception {
      lock.lock();
      Thread.sleep(1);
      x = x + 1;
      lock.unlock();
    }

    @Override
    void b() throws Exception {
      lock.lock();
      y = y + 1;
      Thread.sleep(1);
      lock.unlock();
    }
  }

  @Expect("conflict")
  static final class Monitors extends Case {
    int x;

    @Override
    synchronized void a() throws Exception {
      Thread.sleep(1);
      x = x + 1;
    }

    @Override
    synchronized void b() throws Exception {
      Thread.sleep(1);
      int read = x;
    }
  }

  @Expect("disjoint")
  static final class MonitorsOfOthers extends Case {
    int x;
    int y;

    @Override
    synchronized void a() throws Exception {
      Thread.sleep(1);
      x = x + 1;
    }

    @Override
    synchronized void b() throws Exception {
      y = y + 1;
      Thread.sleep(1);
    }
  }

  @Expect("conflict")
  static final class Waiting extends Case {
    int x;

    @Override
    synchronized void a() throws Exception {
      x = x + 1;
      wait(1);
      x = x + 1;
    }

    @Override
    synchronized void b() throws Exception {
      int read = x;
      wait(1);
      read = x;
    }
  }

  @Expect("conflict")
  static final class Queues extends Case {
    final ArrayBlockingQueue<Integer> queue = new ArrayBlockingQueue<>(5);

    @Override
    synchronized void a() throws Exception {
      queue.put(1);
    }

    @Override
    synchronized void b() throws Exception {
      queue.take();
    }
  }

  @Expect("conflict")
  static final class Library extends Case {
    final HashMap<String, Object> map = new HashMap<>();

    @Override
    synchronized void a() {
      map.put("a", new Object());
    }

    @Override
    synchronized void b() {
      map.get("a");
    }
  }

  @Expect("conflict")
  static final class Patterns extends Case {
    Shape shape = new Circle(1);

    @Override
    synchronized void a() {
      shape = new Square(2);
    }

    @Override
    synchronized void b() {
      int size = switch (shape) {
        case Circle(int radius) -> radius;
        case Square(int side) -> side;
      };
    }
  }

  @Expect("null")
  static final class PatternsOnly extends Case {
    final Shape shape = new Circle(1);

    @Override
    synchronized void a() {
      int size = switch (shape) {
        case Circle(int radius) when radius > 5 -> radius;
        case Circle circle -> 2 * circle.radius();
        case Square(int side) -> side;
      };
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Generators extends Case {
    final RandomGenerator random = RandomGenerator.getDefault();

    @Override
    synchronized void a() {
      random.nextLong();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class DataOfBytes extends Case {
    final RandomAccess out = new RandomAccess();
    static final class RandomAccess {
      final java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
      final java.io.DataOutputStream data = new java.io.DataOutputStream(bytes);
    }

    @Override
    synchronized void a() throws Exception {
      out.data.writeInt(5);
    }

    @Override
    synchronized void b() throws Exception {
      out.data.size();
    }
  }

  @Expect("conflict")
  static final class Indices extends Case {
    final StringBuilder text = new StringBuilder("abc");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'b');
    }

    @Override
    synchronized void b() {
      text.repeat("x", 2).indexOf("b");
    }
  }

  @Expect("conflict")
  static final class Reversed extends Case {
    final List<Object> list = new ArrayList<>(List.of("a", "b", "c"));

    @Override
    synchronized void a() {
      list.reversed().set(0, new Object());
    }

    @Override
    synchronized void b() {
      list.getLast();
    }
  }
}
