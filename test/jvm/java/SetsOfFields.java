import java.io.Serializable;

/** Cases of {@link Sets}: fields and statics. */
final class SetsOfFields extends Sets {
  @Expect("read-read")
  static final class ReadRead extends Case {
    int x;

    @Override
    synchronized void a() {
      int read = x;
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("null")
  static final class Nothing extends Case {
    int x;

    @Override
    synchronized void a() {
      x++;
    }

    @Override
    synchronized void b() {
      Thread.onSpinWait();
    }
  }

  @Expect("conflict")
  static final class WriteWrite extends Case {
    int x;

    @Override
    synchronized void a() {
      x = 1;
    }

    @Override
    synchronized void b() {
      x = 2;
    }
  }

  @Expect("benign")
  static final class WriteWriteOfEqual extends Case {
    int x = 7;

    @Override
    synchronized void a() {
      x = 7;
    }

    @Override
    synchronized void b() {
      x = 7;
    }
  }

  @Expect("disjoint")
  static final class DifferentFields extends Case {
    int x;
    int y;

    @Override
    synchronized void a() {
      x++;
    }

    @Override
    synchronized void b() {
      y++;
    }
  }

  static final class Point {
    int x;
    int y;
  }

  @Expect("disjoint")
  static final class TwoObjects extends Case {
    final Point one = new Point();
    final Point two = new Point();

    @Override
    synchronized void a() {
      one.x = one.x + 1;
    }

    @Override
    synchronized void b() {
      two.x = two.x + 1;
    }
  }

  @Expect("conflict")
  static final class OneObjectByTwoNames extends Case {
    final Point one = new Point();
    final Object two = one;

    @Override
    synchronized void a() {
      one.x = one.x + 1;
    }

    @Override
    synchronized void b() {
      int read = ((Point) two).x;
    }
  }

  static class Base {
    int x;
    int hidden;
    static int shared;
  }

  static class Middle extends Base {}

  static final class Derived extends Middle {
    @SuppressWarnings("hiding")
    int hidden;
  }

  @Expect("conflict")
  static final class Inherited extends Case {
    final Derived derived = new Derived();
    final Base base = derived;

    @Override
    synchronized void a() {
      derived.x = derived.x + 2;
    }

    @Override
    synchronized void b() {
      int read = base.x;
    }
  }

  @Expect("disjoint")
  static final class Hidden extends Case {
    final Derived derived = new Derived();
    final Base base = derived;

    @Override
    synchronized void a() {
      derived.hidden = derived.hidden + 2;
    }

    @Override
    synchronized void b() {
      int read = base.hidden;
    }
  }

  @Expect("conflict")
  @SuppressWarnings("static")
  static final class InheritedStatic extends Case {
    @Override
    synchronized void a() {
      Derived.shared = Middle.shared + 2;
    }

    @Override
    synchronized void b() {
      int read = Base.shared;
    }
  }

  static final class OtherStatic {
    static int shared;
  }

  @Expect("disjoint")
  static final class TwoStatics extends Case {
    static int shared;

    @Override
    synchronized void a() {
      shared++;
    }

    @Override
    synchronized void b() {
      OtherStatic.shared++;
    }
  }

  @Expect("conflict")
  static final class Volatile extends Case {
    volatile long x;

    @Override
    synchronized void a() {
      x = x + 3;
    }

    @Override
    synchronized void b() {
      long read = x;
    }
  }

  @Expect("benign")
  static final class Increments extends Case {
    int count;

    @Override
    synchronized void a() {
      count++;
    }

    @Override
    synchronized void b() {
      ++count;
    }
  }

  @Expect("benign")
  static final class IncrementAndDecrement extends Case {
    long count;

    @Override
    synchronized void a() {
      count--;
    }

    @Override
    synchronized void b() {
      long more = 5;
      count += more;
    }
  }

  @Expect("benign")
  static final class StaticIncrements extends Case {
    static int count;

    @Override
    synchronized void a() {
      count++;
    }

    @Override
    synchronized void b() {
      count -= 3;
    }
  }

  @Expect("conflict")
  static final class IncrementOfUse extends Case {
    int count;

    int next() {
      return count++;
    }

    @Override
    synchronized void a() {
      next();
    }

    @Override
    synchronized void b() {
      count++;
    }
  }

  @Expect("conflict")
  static final class IncrementAndRead extends Case {
    int count;

    @Override
    synchronized void a() {
      count++;
    }

    @Override
    synchronized void b() {
      int read = count;
    }
  }

  @Expect("conflict")
  static final class IncrementAndReadInOne extends Case {
    int count;

    @Override
    synchronized void a() {
      count++;
      if (count > 100) {
        count = 0;
      }
    }

    @Override
    synchronized void b() {
      count++;
    }
  }

  @Expect("conflict")
  static final class IncrementAndDoubling extends Case {
    int count = 1;

    @Override
    synchronized void a() {
      count++;
    }

    @Override
    synchronized void b() {
      count *= 2;
    }
  }

  @Expect("conflict")
  static final class NegatedDifference extends Case {
    int count = 1;

    @Override
    synchronized void a() {
      count++;
    }

    @Override
    synchronized void b() {
      count = 5 - count;
    }
  }

  @Expect("conflict")
  static final class SumOfAnother extends Case {
    int count;
    int step = 1;

    @Override
    synchronized void a() {
      count += step;
    }

    @Override
    synchronized void b() {
      step++;
    }
  }

  @Expect("conflict")
  static final class CopiedPlusOne extends Case {
    final Point one = new Point();
    final Point two = new Point();

    @Override
    synchronized void a() {
      one.x = two.x + 1;
    }

    @Override
    synchronized void b() {
      two.x++;
      one.x++;
    }
  }

  static class Named {
    final int number;

    Named(int number) {
      this.number = number;
    }
  }

  static final class Numbered extends Named {
    private static int next;

    Numbered() {
      super(next++);
    }
  }

  @Expect("conflict")
  static final class CounterBeforeSuper extends Case {
    @Override
    synchronized void a() {
      new Numbered();
    }

    @Override
    synchronized void b() {
      new Numbered();
    }
  }

  static final class Delegating {
    static final int[] NUMBERS = {1, 2, 3};
    static Point origin = new Point();
    final int x;

    Delegating(int x) {
      this.x = x;
    }

    Delegating(boolean ofField) {
      this(ofField ? origin.y : NUMBERS[1]);
    }
  }

  @Expect("conflict")
  static final class FieldBeforeThis extends Case {
    @Override
    synchronized void a() {
      new Delegating(true);
    }

    @Override
    synchronized void b() {
      Delegating.origin.y = Delegating.origin.y + 1;
    }
  }

  @Expect("conflict")
  static final class ElementBeforeThis extends Case {
    @Override
    synchronized void a() {
      new Delegating(false);
    }

    @Override
    synchronized void b() {
      Delegating.NUMBERS[1] = Delegating.NUMBERS[1] + 1;
    }
  }

  @Expect("null")
  static final class OwnFinal extends Case {
    final int x = hashCode();

    @Override
    synchronized void a() {
      int read = x;
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  record Pair(int left, String right) {}

  @Expect("null")
  static final class Records extends Case {
    final Pair pair = new Pair(1, "one");

    @Override
    synchronized void a() {
      if (pair.left() != 1 || !new Pair(1, "one").equals(pair)) {
        throw new AssertionError(pair.toString());
      }
    }

    @Override
    synchronized void b() {
      pair.hashCode();
    }
  }

  enum Color {
    RED, GREEN, BLUE;

    int used;
  }

  @Expect("null,read-read")
  static final class Enums extends Case {
    @Override
    synchronized void a() {
      for (Color color : Color.values()) {
        switch (color) {
          case RED:
            Color.valueOf("GREEN");
            break;
          default:
            color.name();
        }
      }
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class EnumField extends Case {
    @Override
    synchronized void a() {
      Color.RED.used = Color.RED.used + 1;
    }

    @Override
    synchronized void b() {
      int read = Color.valueOf("RED").used;
    }
  }

  final class Inner {
    private int own;

    void both() {
      own++;
      x = x + 1;
    }
  }

  private int x;

  @Expect("conflict")
  static final class OuterField extends Case {
    final SetsOfFields outer = new SetsOfFields();
    final Inner inner = outer.new Inner();

    @Override
    synchronized void a() {
      inner.both();
    }

    @Override
    synchronized void b() {
      int read = outer.x;
    }
  }

  @Expect("conflict")
  static final class InnerField extends Case {
    final SetsOfFields outer = new SetsOfFields();
    final Inner inner = outer.new Inner();

    @Override
    synchronized void a() {
      inner.both();
    }

    @Override
    synchronized void b() {
      int read = inner.own;
    }
  }

  interface Counting {
    int count();

    void set(int count);

    default void more() {
      set(count() + 1);
    }

    static int of(Counting that) {
      return that.count();
    }
  }

  @Expect("conflict")
  static final class DefaultMethods extends Case implements Counting {
    int count;

    @Override
    public int count() {
      return count;
    }

    @Override
    public void set(int value) {
      count = value;
    }

    @Override
    synchronized void a() {
      more();
    }

    @Override
    synchronized void b() {
      Counting.of(this);
    }
  }

  interface Constants {
    int[] TABLE = new int[2];
  }

  @Expect("conflict")
  static final class ArrayOfInterface extends Case implements Constants {
    @Override
    synchronized void a() {
      TABLE[0] = TABLE[0] + 1;
    }

    @Override
    synchronized void b() {
      int read = Constants.TABLE[0];
    }
  }

  @Expect("null")
  static final class BornPoints extends Case {
    @Override
    synchronized void a() {
      Point point = new Point();
      point.x = 1;
      point.y = point.x + 1;
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class BornAndPublished extends Case {
    Point point = new Point();

    @Override
    synchronized void a() {
      Point made = new Point();
      made.x = 1;
      point = made;
    }

    @Override
    synchronized void b() {
      int read = point.x;
    }
  }

  @Expect("conflict")
  static final class PublishedEarlier extends Case {
    final Point[] points = new Point[1];

    @Override
    void prepare() {
      synchronized (this) {
        points[0] = new Point();
      }
    }

    @Override
    synchronized void a() {
      points[0].x = points[0].x + 1;
    }

    @Override
    synchronized void b() {
      int read = points[0].x;
    }
  }

  @Expect("null")
  static final class LambdaOfBorn extends Case {
    @Override
    synchronized void a() {
      int[] box = {0};
      Runnable more = () -> box[0] = box[0] + 1;
      more.run();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class LambdaOfShared extends Case {
    int x;

    @Override
    synchronized void a() {
      Runnable more = () -> x = x + 1;
      more.run();
    }

    @Override
    synchronized void b() {
      Runnable look = () -> System.identityHashCode(x);
      look.run();
    }
  }

  static final class FirstUse {
    static int made;
    static int value = compute();

    private static int compute() {
      made = 5;
      return made + 1;
    }
  }

  @Expect("read-read")
  static final class ClassInitialised extends Case {
    @Override
    synchronized void a() {
      int read = FirstUse.value;
    }

    @Override
    synchronized void b() {
      int read = FirstUse.value;
    }
  }

  @SuppressWarnings("serial")
  static class Unlisted implements Serializable {
    int x;
  }

  @Expect("null")
  static final class ClassesLoaded extends Case {
    static final class Loaded {
      final int one = 1;
    }

    @Override
    synchronized void a() {
      if (new Loaded().one != 1 || new Unlisted().x != 0) {
        throw new AssertionError();
      }
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("null,read-read")
  static final class Concatenation extends Case {
    final String name = "name" + hashCode();

    @Override
    synchronized void a() {
      String text = name + 1 + 'c' + 2L + 1.5 + null;
      if (text.hashCode() == 0 || text.length() < 3 || text.substring(2).indexOf('c') < 0) {
        throw new AssertionError(text);
      }
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("null")
  static final class Boxes extends Case {
    @Override
    synchronized void a() {
      Object[] boxes = {1000, 2000L, 'c', 1.5, true};
      if (boxes.length != 5 || (Integer) boxes[0] != 1000) {
        throw new AssertionError();
      }
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Proxies extends Case {
    int x;
    final Runnable proxy = (Runnable) java.lang.reflect.Proxy.newProxyInstance(Sets.class.getClassLoader(),
    new Class<?>[] {Runnable.class}, (object, method, arguments) -> x = x + 1);

    @Override
    synchronized void a() {
      proxy.run();
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("conflict")
  static final class Interrupts extends Case {
    final Thread thread = new Thread();

    @Override
    synchronized void a() {
      thread.interrupt();
    }

    @Override
    synchronized void b() {
      thread.isInterrupted();
    }
  }

  @Expect("conflict")
  static final class NamesOfThreads extends Case {
    final Thread thread = new Thread();

    @Override
    synchronized void a() {
      thread.setName("x");
    }

    @Override
    synchronized void b() {
      thread.getName();
    }
  }

  @Expect("read-read")
  static final class NamesOfThreadsRead extends Case {
    final Thread thread = new Thread();

    @Override
    synchronized void a() {
      thread.getName();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Suppressed extends Case {
    final Exception failure = new Exception();

    @Override
    synchronized void a() {
      failure.addSuppressed(new Exception());
    }

    @Override
    synchronized void b() {
      failure.getSuppressed();
    }
  }

  @Expect("conflict")
  static final class Switches extends Case {
    final String which = "one" + hashCode();
    int x;

    @Override
    synchronized void a() {
      switch (which.substring(0, 3)) {
        case "one":
        x = x + 1;
        break;
        default:
        throw new AssertionError();
      }
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("conflict")
  static final class Generic extends Case {
    final Box<Integer> box = new IntegerBox();
    static class Box<T> {
      T value;
      void set(T to) {
        value = to;
      }
    }
    static final class IntegerBox extends Box<Integer> {
      @Override
      void set(Integer to) {
        super.set(to);
      }
    }

    @Override
    synchronized void a() {
      box.set(1000);
    }

    @Override
    synchronized void b() {
      Integer read = box.value;
    }
  }

  @Expect("conflict")
  static final class Iterators extends Case {
    final java.util.Iterator<Integer> each = java.util.stream.Stream.iterate(1, n -> n + 1).iterator();

    @Override
    synchronized void a() {
      each.next();
    }

    @Override
    synchronized void b() {
      a();
    }
  }
}
