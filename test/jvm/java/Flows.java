import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Vector;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/**
 * Sections of which it is known by construction which get information from which (test/jvm/flows.py). Each case runs its sections one after
 * the other; those of one case are its methods a to d. `@Expect("b<a direct")`: b gets information from a. Sections are named by
 * the methods in which they begin, code that is in none by a dash.
 */
public class Flows {
  @Retention(RetentionPolicy.RUNTIME)
  @interface Expect {
    String value();  // several with commas; empty: nothing flows
  }

  abstract static class Case {
    static volatile Object sink;  // what goes there is used, outside of sections

    abstract void run();
  }

  // ---- figure 1 and figure 4 of the paper

  @Expect("b<a direct,d<c direct")
  static final class StackOfFigure1 extends Case {
    private static final class Node {
      final int value;
      Node next;

      Node(int value) {
        this.value = value;
      }
    }

    private Node top;

    synchronized void a(int value) {
      Node node = new Node(value);
      node.next = top;
      top = node;
    }

    synchronized void c(int value) {
      Node node = new Node(value);
      node.next = top;
      top = node;
    }

    synchronized int b() {
      Node old = top;
      top = top.next;
      return old.value;
    }

    synchronized int d() {
      Node old = top;
      top = top.next;
      return old.value;
    }

    @Override
    void run() {
      c(number(2));
      a(number(1));
      sink = b() + d();
    }
  }

  static final class Result {
    int value;
  }

  @Expect("b<a direct,b<a indirect")
  static final class Figure4 extends Case {
    private final Map<String, Integer> map = new HashMap<>();

    void a(int value) {
      synchronized (map) {
        map.put("key", value);
      }
    }

    void b(int factor) {
      Integer read;
      Result result;
      synchronized (map) {
        int constant = 2;
        read = map.get("key");
        result = new Result();
        result.value = read * factor * constant;
      }
      sink = read;
      sink = result.value;
    }

    @Override
    void run() {
      a(number(20));
      b(number(3));
    }
  }

  // ---- nothing flows

  @Expect("")
  static final class OnlyACount extends Case {
    private int count;

    synchronized void a() {
      count++;
    }

    synchronized void b() {
      count++;
    }

    @Override
    void run() {
      a();
      b();
    }
  }

  @Expect("")
  static final class HashtableCounts extends Case {
    private final Hashtable<String, Integer> table = new Hashtable<>();

    synchronized void a(Integer value) {
      table.put("a", value);
    }

    synchronized void b(Integer value) {
      table.put("b", value);
    }

    @Override
    void run() {
      a(number(1000));
      b(number(2000));
    }
  }

  @Expect("")
  static final class ConstantsFlowNowhere extends Case {
    private int x;

    synchronized void a() {
      x = 7;
    }

    synchronized int b() {
      return x;
    }

    @Override
    void run() {
      a();
      sink = b();
    }
  }

  @Expect("")
  static final class WrittenOverInside extends Case {
    private int x;

    synchronized void a(int value) {
      x = value;
      x = 3;
    }

    synchronized int b() {
      return x;
    }

    @Override
    void run() {
      a(number(5));
      sink = b();
    }
  }

  @Expect("")
  static final class WrittenOverOutside extends Case {
    private int x;

    synchronized void a(int value) {
      x = value;
    }

    synchronized int b() {
      return x;
    }

    @Override
    void run() {
      a(number(5));
      x = 4;
      sink = b();
    }
  }

  @Expect("b<a control")
  static final class OnlyByABranch extends Case {
    private boolean flag;

    synchronized void a(boolean value) {
      flag = value;
    }

    synchronized int b() {
      return flag ? 1 : 2;
    }

    @Override
    void run() {
      a(number(1) == 1);
      sink = b();
    }
  }

  @Expect("b<a control")
  static final class OnlyByAnIndex extends Case {
    private final int[] squares = {0, 1, 4, 9};
    private int at;

    synchronized void a(int value) {
      at = value;
    }

    synchronized int b() {
      return squares[at];
    }

    @Override
    void run() {
      a(number(2));
      sink = b();
    }
  }

  @Expect("b<a control")
  static final class OnlyByASwitch extends Case {
    private int choice;

    synchronized void a(int value) {
      choice = value;
    }

    synchronized String b() {
      switch (choice) {
        case 1:
          return "one";
        case 2:
          return "two";
        default:
          return "many";
      }
    }

    @Override
    void run() {
      a(number(2));
      sink = b();
    }
  }

  // ---- values on their way

  @Expect("b<a direct")
  static final class Arithmetic extends Case {
    private long x;

    synchronized void a(int value) {
      double half = value / 2.0;
      x = (long) (half * 3) << 2;
    }

    synchronized int b() {
      return -(int) (x ^ 5) % 1000;
    }

    @Override
    void run() {
      a(number(31));
      sink = b();
    }
  }

  @Expect("c<a direct,c<b direct")
  static final class TwoInOne extends Case {
    private int x;
    private int y;

    synchronized void a(int value) {
      x = value;
    }

    synchronized void b(int value) {
      y = value;
    }

    synchronized int c() {
      return x + y;
    }

    @Override
    void run() {
      a(number(1));
      b(number(2));
      sink = c();
    }
  }

  @Expect("c<a direct,c<b direct")
  static final class AHashChain extends Case {
    private int head = 17;

    synchronized int a(int value) {
      head = 31 * head + value;
      return 0;
    }

    synchronized int b(int value) {
      head = 31 * head + value;
      return 0;
    }

    synchronized int c(int value) {
      head = 31 * head + value;
      return head;
    }

    @Override
    void run() {
      a(number(1));
      b(number(2));
      sink = c(number(3));
    }
  }

  @Expect("b<a direct")
  static final class AnArray extends Case {
    private final int[] values = new int[8];

    synchronized void a(int value) {
      values[3] = value;
    }

    synchronized int b() {
      return values[3];
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("")
  static final class AnotherElement extends Case {
    private final int[] values = new int[8];

    synchronized void a(int value) {
      values[3] = value;
    }

    synchronized int b() {
      return values[4];
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class ArraysInArrays extends Case {
    private final long[][] values = new long[3][3];

    synchronized void a(long value) {
      values[1][2] += value;
    }

    synchronized long b() {
      return values[1][2];
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class ACopiedArray extends Case {
    private int[] values = new int[8];

    synchronized void a(int value) {
      values[3] = value;
    }

    synchronized int b() {
      int[] copy = new int[9];
      System.arraycopy(values, 2, copy, 3, 4);
      int[] longer = Arrays.copyOf(copy, 20);
      return longer.clone()[4];
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class AStatic extends Case {
    private static int x;

    synchronized void a(int value) {
      x = value;
    }

    synchronized int b() {
      return x;
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class ABox extends Case {
    private final List<Integer> list = new ArrayList<>();

    synchronized void a(int value) {
      list.add(value);
    }

    synchronized int b() {
      return list.get(0) + 1;
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class AString extends Case {
    private String text = "";

    synchronized void a(int value) {
      text = "value " + value;
    }

    synchronized int b() {
      return text.substring(2).length();
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class ABuilder extends Case {
    private final StringBuilder text = new StringBuilder();

    synchronized void a(String value) {
      text.append("<").append(value).append('>');
    }

    synchronized String b() {
      return text.toString();
    }

    @Override
    void run() {
      a("number " + number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class AMap extends Case {
    private final Map<String, Object> map = new HashMap<>();

    synchronized void a(String key, Object value) {
      map.put(key, value);
    }

    synchronized Object b(String key) {
      return map.get(key);
    }

    @Override
    void run() {
      a("key", number(1));
      sink = b("key");
    }
  }

  @Expect("")
  static final class AnotherKey extends Case {
    private final Map<String, Object> map = new HashMap<>(Map.of("other", 3));

    synchronized void a(String key, Object value) {
      map.put(key, value);
    }

    synchronized Object b(String key) {
      return map.get(key);
    }

    @Override
    void run() {
      a("key", number(1));
      sink = b("other");
    }
  }

  @Expect("b<a direct")
  static final class Methods extends Case {
    private int x;

    private static int twice(int value) {
      return 2 * value;
    }

    private int keep(int first, long second, int third) {
      x = third;
      return first;
    }

    synchronized void a(int value) {
      keep(1, 2, twice(value));
    }

    synchronized int b() {
      return twice(x);
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("")
  static final class TheOtherArgument extends Case {
    private int x;

    private static int first(int a, int b) {
      return a;
    }

    synchronized void a(int value) {
      x = first(3, value);
    }

    synchronized int b() {
      return x;
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class ALambda extends Case {
    private IntSupplier supplier;

    synchronized void a(int value) {
      supplier = () -> value + 1;
    }

    synchronized int b() {
      return supplier.getAsInt();
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class ASort extends Case {
    private final List<Integer> list = new ArrayList<>(List.of(3, 2));

    synchronized void a(int value) {
      list.add(value);
    }

    synchronized Object b() {
      List<Integer> sorted = new ArrayList<>(list);
      Collections.sort(sorted, Comparator.reverseOrder());
      return sorted.get(0) + sorted.get(1) + sorted.get(2);
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class AnException extends Case {
    private RuntimeException kept;

    synchronized void a(String value) {
      try {
        throw new IllegalStateException(value);
      } catch (IllegalStateException caught) {
        kept = caught;
      }
    }

    synchronized String b() {
      return kept.getMessage();
    }

    @Override
    void run() {
      a("number " + number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class AnAtomic extends Case {
    private final AtomicInteger x = new AtomicInteger();

    synchronized void a(int value) {
      x.set(value);
      x.incrementAndGet();
    }

    synchronized int b() {
      return x.get();
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class AnAtomicReference extends Case {
    private final AtomicReference<Object> x = new AtomicReference<>();

    synchronized void a(Object value) {
      x.compareAndSet(null, value);
    }

    synchronized Object b() {
      return x.get();
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class ALoop extends Case {
    private final int[] values = new int[100];

    synchronized void a(int value) {
      for (int i = 0; i < values.length; i++) {
        values[i] = value + i;
      }
    }

    synchronized long b() {
      long sum = 0;
      for (int value : values) {
        sum += value;
      }
      return sum;
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  // ---- sections

  @Expect("b<a direct")
  static final class ALock extends Case {
    private final ReentrantLock lock = new ReentrantLock();
    private int x;

    void a(int value) {
      lock.lock();
      try {
        x = value;
      } finally {
        lock.unlock();
      }
    }

    int b() {
      int read;
      lock.lock();
      try {
        read = x;
      } finally {
        lock.unlock();
      }
      return read;
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class ABlock extends Case {
    private int x;

    void a(int value) {
      int more = value + 1;
      synchronized (this) {
        x = more;
      }
    }

    int b() {
      int read;
      synchronized (this) {
        read = x;
      }
      return read * 2;
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("")
  static final class ReadAndDropped extends Case {
    private int x;

    void a(int value) {
      synchronized (this) {
        x = value;
      }
    }

    int b() {
      synchronized (this) {
        int read = x;
        read++;
      }
      return 2;
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("c<a direct,b<a direct,b<c direct")
  static final class Nested extends Case {
    private final Object inner = new Object();
    private int x;
    private int y;

    synchronized void a(int value) {
      x = value;
    }

    synchronized int b() {
      return c(1) + 1;
    }

    int c(int more) {
      synchronized (inner) {
        return x + more;
      }
    }

    @Override
    void run() {
      a(number(1));
      sink = b();
    }
  }

  @Expect("b<a direct")
  static final class Waiting extends Case {
    private Object item;

    synchronized void a(Object value) {
      item = value;
      notifyAll();
    }

    synchronized Object b() throws InterruptedException {
      while (item == null) {
        wait();
      }
      return item;
    }

    @Override
    void run() {
      Thread other = new Thread(() -> {
        while (!waits) {
          Thread.onSpinWait();
        }
        a(number(1));
      });
      other.start();
      try {
        waits = true;
        sink = b();
        other.join();
      } catch (InterruptedException impossible) {
        throw new AssertionError(impossible);
      }
    }

    private volatile boolean waits;
  }

  @Expect("-<a indirect")
  static final class ReadByCodeInNone extends Case {
    private int x;

    synchronized void a(int value) {
      x = value;
    }

    @Override
    void run() {
      Thread writer = new Thread(() -> a(number(1)));
      writer.start();
      try {
        writer.join();
      } catch (InterruptedException impossible) {
        throw new AssertionError(impossible);
      }
      sink = x;
    }
  }

  @Expect("b<a indirect")
  static final class ReadAfterwards extends Case {
    private int x;
    private int y;

    synchronized void a(int value) {
      x = value;
    }

    synchronized void b(int value) {
      y = x + value;
    }

    @Override
    void run() {
      a(number(1));
      b(number(2));
      sink = y;
    }
  }

  @Expect("c<a direct,c<b direct")
  static final class Vectors extends Case {
    private final Vector<Object> vector = new Vector<>();

    synchronized void a(Object value) {
      vector.add(value);
    }

    synchronized void b(Object value) {
      vector.add(value);
    }

    synchronized Object c() {
      return vector.get(0).hashCode() + vector.get(1).hashCode();
    }

    @Override
    void run() {
      a(number(1));
      b(number(2));
      sink = c();
    }
  }

  /** Not a constant, for no compiler. */
  static int number(int value) {
    return Integer.parseInt(Integer.toString(value));
  }

  public static void main(String[] only) throws Exception {
    for (Class<?> type : Flows.class.getDeclaredClasses()) {
      Expect expect = type.getAnnotation(Expect.class);
      if (expect == null || only.length > 0 && !Arrays.asList(only).contains(type.getSimpleName())) {
        continue;
      }
      for (int i = 0; i < 3; i++) {
        ((Case) type.getDeclaredConstructor().newInstance()).run();
      }
      System.out.println(type.getName() + "|" + expect.value());
    }
  }
}
