import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** Cases of {@link Sets}: atomic operations, variable handles, reflection and method handles. */
final class SetsOfAtomics extends Sets {
  /** What handles and reflection get at. */
  static class Target {
    int number;
    volatile int counted;
    volatile long sum;
    volatile Object reference;
    boolean flag;
    static int shared;
    static final VarHandle NUMBER = handle("number", int.class);
    static final VarHandle REFERENCE = handle("reference", Object.class);
    static final VarHandle FLAG = handle("flag", boolean.class);
    static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);
    static final VarHandle OBJECTS = MethodHandles.arrayElementVarHandle(Object[].class);
    static final VarHandle LONGS_OF_BYTES = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    static final VarHandle SHARED = sharedHandle();

    private static VarHandle handle(String name, Class<?> type) {
      try {
        return MethodHandles.lookup().findVarHandle(Target.class, name, type);
      } catch (ReflectiveOperationException impossible) {
        throw new AssertionError(impossible);
      }
    }

    private static VarHandle sharedHandle() {
      try {
        return MethodHandles.lookup().findStaticVarHandle(Target.class, "shared", int.class);
      } catch (ReflectiveOperationException impossible) {
        throw new AssertionError(impossible);
      }
    }

    int more() {
      return number = number + 1;
    }

    static MethodHandle getter() throws ReflectiveOperationException {
      return MethodHandles.lookup().findGetter(Target.class, "number", int.class);
    }

    static MethodHandle setter() throws ReflectiveOperationException {
      return MethodHandles.lookup().findSetter(Target.class, "number", int.class);
    }

    static Field field(String name) throws ReflectiveOperationException {
      return Target.class.getDeclaredField(name);
    }
  }

  @Expect("benign")
  static final class IntegerIncrements extends Case {
    final AtomicInteger x = new AtomicInteger();

    @Override
    synchronized void a() {
      x.incrementAndGet();
    }

    @Override
    synchronized void b() {
      x.getAndIncrement();
    }
  }

  @Expect("conflict")
  static final class IntegerGetAndSet extends Case {
    final AtomicInteger x = new AtomicInteger();

    @Override
    synchronized void a() {
      x.set(x.get() + 1);
    }

    @Override
    synchronized void b() {
      x.get();
    }
  }

  @Expect("read-read")
  static final class IntegerGets extends Case {
    final AtomicInteger x = new AtomicInteger();

    @Override
    synchronized void a() {
      x.get();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class IntegerUpdates extends Case {
    final AtomicInteger x = new AtomicInteger();

    @Override
    synchronized void a() {
      x.updateAndGet(n -> n + 3);
    }

    @Override
    synchronized void b() {
      x.compareAndSet(x.get(), 7);
    }
  }

  @Expect("disjoint")
  static final class TwoIntegers extends Case {
    final AtomicInteger x = new AtomicInteger();
    final AtomicInteger y = new AtomicInteger();

    @Override
    synchronized void a() {
      x.incrementAndGet();
    }

    @Override
    synchronized void b() {
      y.incrementAndGet();
    }
  }

  @Expect("conflict")
  static final class IntegerLazy extends Case {
    final AtomicInteger x = new AtomicInteger();

    @Override
    synchronized void a() {
      x.lazySet(x.getPlain() + 1);
    }

    @Override
    synchronized void b() {
      x.getAcquire();
    }
  }

  @Expect("benign")
  static final class Longs extends Case {
    final AtomicLong x = new AtomicLong();

    @Override
    synchronized void a() {
      x.addAndGet(5);
    }

    @Override
    synchronized void b() {
      x.get();
    }
  }

  @Expect("conflict")
  static final class LongGetAndSet extends Case {
    final AtomicLong x = new AtomicLong();

    @Override
    synchronized void a() {
      x.getAndSet(5);
    }

    @Override
    synchronized void b() {
      x.compareAndExchange(5, 7);
    }
  }

  @Expect("conflict")
  static final class Booleans extends Case {
    final AtomicBoolean x = new AtomicBoolean();

    @Override
    synchronized void a() {
      x.set(!x.get());
    }

    @Override
    synchronized void b() {
      x.compareAndSet(true, false);
    }
  }

  @Expect("conflict")
  static final class Adders extends Case {
    final LongAdder x = new LongAdder();

    @Override
    synchronized void a() {
      x.increment();
    }

    @Override
    synchronized void b() {
      x.sum();
    }
  }

  @Expect("conflict")
  static final class Accumulators extends Case {
    final LongAccumulator x = new LongAccumulator(Long::max, 0);
    long next;

    @Override
    synchronized void a() {
      x.accumulate(next = next + 1);
    }

    @Override
    synchronized void b() {
      x.get();
    }
  }

  @Expect("conflict")
  static final class References extends Case {
    final AtomicReference<Object> x = new AtomicReference<>();

    @Override
    synchronized void a() {
      x.set(new Object());
    }

    @Override
    synchronized void b() {
      x.get();
    }
  }

  @Expect("conflict")
  static final class ReferencesCompared extends Case {
    final AtomicReference<Object> x = new AtomicReference<>();

    @Override
    synchronized void a() {
      x.compareAndSet(x.get(), new Object());
    }

    @Override
    synchronized void b() {
      x.getAndSet(null);
    }
  }

  @Expect("benign")
  static final class Arrays extends Case {
    final AtomicIntegerArray x = new AtomicIntegerArray(5);

    @Override
    synchronized void a() {
      x.incrementAndGet(3);
    }

    @Override
    synchronized void b() {
      x.get(3);
    }
  }

  @Expect("disjoint")
  static final class ArraysOtherIndex extends Case {
    final AtomicIntegerArray x = new AtomicIntegerArray(5);

    @Override
    synchronized void a() {
      x.incrementAndGet(3);
    }

    @Override
    synchronized void b() {
      x.addAndGet(4, 2);
    }
  }

  @Expect("conflict")
  static final class ArraysOfReferences extends Case {
    final AtomicReferenceArray<Object> x = new AtomicReferenceArray<>(5);

    @Override
    synchronized void a() {
      x.set(3, new Object());
    }

    @Override
    synchronized void b() {
      x.compareAndSet(3, null, "x");
    }
  }

  @Expect("benign")
  static final class IntegerUpdaters extends Case {
    final Target x = new Target();
    static final AtomicIntegerFieldUpdater<Target> COUNTED = AtomicIntegerFieldUpdater.newUpdater(Target.class, "counted");

    @Override
    synchronized void a() {
      COUNTED.incrementAndGet(x);
    }

    @Override
    synchronized void b() {
      int read = x.counted;
    }
  }

  @Expect("benign")
  static final class LongUpdaters extends Case {
    final Target x = new Target();
    static final AtomicLongFieldUpdater<Target> SUM = AtomicLongFieldUpdater.newUpdater(Target.class, "sum");

    @Override
    synchronized void a() {
      SUM.addAndGet(x, 3);
    }

    @Override
    synchronized void b() {
      SUM.get(x);
    }
  }

  @Expect("conflict")
  static final class ReferenceUpdaters extends Case {
    final Target x = new Target();
    static final AtomicReferenceFieldUpdater<Target, Object> REFERENCE =
    AtomicReferenceFieldUpdater.newUpdater(Target.class, Object.class, "reference");

    @Override
    synchronized void a() {
      REFERENCE.set(x, new Object());
    }

    @Override
    synchronized void b() {
      Object read = x.reference;
    }
  }

  @Expect("conflict")
  static final class HandleOfField extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() {
      Target.NUMBER.set(x, (int) Target.NUMBER.get(x) + 1);
    }

    @Override
    synchronized void b() {
      int read = x.number;
    }
  }

  @Expect("conflict")
  static final class HandleOfFieldRead extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() {
      x.number = x.number + 1;
    }

    @Override
    synchronized void b() {
      int read = (int) Target.NUMBER.getVolatile(x);
    }
  }

  @Expect("read-read")
  static final class HandleOfFieldReads extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() {
      int read = (int) Target.NUMBER.getAcquire(x);
    }

    @Override
    synchronized void b() {
      int read = (int) Target.NUMBER.getOpaque(x);
    }
  }

  @Expect("benign")
  static final class HandleAdds extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() {
      int read = (int) Target.NUMBER.getAndAdd(x, 1);
    }

    @Override
    synchronized void b() {
      int read = x.number;
    }
  }

  @Expect("conflict")
  static final class HandleBits extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() {
      int read = (int) Target.NUMBER.getAndBitwiseXor(x, 1);
    }

    @Override
    synchronized void b() {
      int read = x.number;
    }
  }

  @Expect("conflict")
  static final class HandleCompares extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() {
      Target.NUMBER.compareAndSet(x, x.number, x.number + 1);
    }

    @Override
    synchronized void b() {
      int read = x.number;
    }
  }

  @Expect("conflict")
  static final class HandleOfFlag extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() {
      Target.FLAG.setRelease(x, !x.flag);
    }

    @Override
    synchronized void b() {
      boolean read = x.flag;
    }
  }

  @Expect("conflict")
  static final class HandleOfReference extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() {
      Target.REFERENCE.setVolatile(x, new Object());
    }

    @Override
    synchronized void b() {
      Object read = Target.REFERENCE.get(x);
    }
  }

  @Expect("conflict")
  static final class HandleOfArray extends Case {
    final int[] x = new int[5];

    @Override
    synchronized void a() {
      Target.INTS.setVolatile(x, 3, (int) Target.INTS.getVolatile(x, 3) + 1);
    }

    @Override
    synchronized void b() {
      int read = x[3];
    }
  }

  @Expect("disjoint")
  static final class HandleOfArrayOtherIndex extends Case {
    final int[] x = new int[5];

    @Override
    synchronized void a() {
      int read = (int) Target.INTS.getAndAdd(x, 3, 1);
    }

    @Override
    synchronized void b() {
      int read = (int) Target.INTS.getAndAdd(x, 4, 1);
    }
  }

  @Expect("conflict")
  static final class HandleOfObjects extends Case {
    final Object[] x = new Object[5];

    @Override
    synchronized void a() {
      Target.OBJECTS.set(x, 3, new Object());
    }

    @Override
    synchronized void b() {
      Object read = x[3];
    }
  }

  @Expect("conflict")
  static final class HandleOfBytes extends Case {
    final byte[] x = new byte[50];

    @Override
    synchronized void a() {
      Target.LONGS_OF_BYTES.set(x, 7, (long) Target.LONGS_OF_BYTES.get(x, 7) + 1);
    }

    @Override
    synchronized void b() {
      byte read = x[14];
    }
  }

  @Expect("disjoint")
  static final class HandleOfBytesBeside extends Case {
    final byte[] x = new byte[50];

    @Override
    synchronized void a() {
      Target.LONGS_OF_BYTES.set(x, 8, (long) Target.LONGS_OF_BYTES.get(x, 8) + 1);
    }

    @Override
    synchronized void b() {
      x[16]++;
      x[7]++;
    }
  }

  @Expect("unknown")
  static final class HandleOfStatic extends Case {
    @Override
    synchronized void a() {
      Target.SHARED.set((int) Target.SHARED.get() + 1);
    }

    @Override
    synchronized void b() {
      int read = (int) Target.SHARED.getVolatile();
    }
  }

  @Expect("conflict")
  static final class ReflectionOfField extends Case {
    final Target x = new Target();

    @Override
    synchronized void a() throws Exception {
      Field field = Target.field("number");
      field.setInt(x, field.getInt(x) + 1);
    }

    @Override
    synchronized void b() throws Exception {
      int read = x.number;
    }
  }

  @Expect("conflict")
  static final class ReflectionReads extends Case {
    final Target x = new Target();
    final Field field;
    ReflectionReads() throws ReflectiveOperationException {
      field = Target.field("reference");
    }

    @Override
    synchronized void a() throws Exception {
      x.reference = new Object();
    }

    @Override
    synchronized void b() throws Exception {
      field.get(x);
    }
  }

  @Expect("unknown")
  static final class ReflectionOfStatic extends Case {
    final Field field;
    ReflectionOfStatic() throws ReflectiveOperationException {
      field = Target.field("shared");
    }

    @Override
    synchronized void a() throws Exception {
      field.setInt(null, field.getInt(null) + 1);
    }

    @Override
    synchronized void b() throws Exception {
      field.get(null);
    }
  }

  @Expect("conflict")
  static final class ReflectionOfArray extends Case {
    final int[] x = new int[5];

    @Override
    synchronized void a() {
      Array.setInt(x, 3, Array.getInt(x, 3) + 1);
    }

    @Override
    synchronized void b() {
      int read = x[3];
    }
  }

  @Expect("conflict")
  static final class ReflectionOfArrayReads extends Case {
    final Object[] x = new Object[5];

    @Override
    synchronized void a() {
      x[3] = new Object();
    }

    @Override
    synchronized void b() {
      Array.get(x, 3);
    }
  }

  @Expect("disjoint")
  static final class ReflectionOfArrayOtherIndex extends Case {
    final Object[] x = new Object[5];

    @Override
    synchronized void a() {
      Array.set(x, 3, new Object());
    }

    @Override
    synchronized void b() {
      Array.set(x, 4, new Object());
    }
  }

  @Expect("conflict")
  static final class ReflectionOfMethod extends Case {
    final Target x = new Target();
    final Method more;
    ReflectionOfMethod() throws ReflectiveOperationException {
      more = Target.class.getDeclaredMethod("more");
    }

    @Override
    synchronized void a() throws Exception {
      more.invoke(x);
    }

    @Override
    synchronized void b() throws Exception {
      int read = x.number;
    }
  }

  @Expect("conflict")
  static final class ReflectionOfConstructor extends Case {
    final java.lang.reflect.Constructor<?> make;
    ReflectionOfConstructor() throws ReflectiveOperationException {
      make = SetsOfFields.Numbered.class.getDeclaredConstructor();
      make.setAccessible(true);
    }

    @Override
    synchronized void a() throws Exception {
      make.newInstance();
    }

    @Override
    synchronized void b() throws Exception {
      a();
    }
  }

  @Expect("conflict")
  static final class MethodHandleOfMethod extends Case {
    final Target x = new Target();
    final MethodHandle more;
    MethodHandleOfMethod() throws ReflectiveOperationException {
      more = MethodHandles.lookup().findVirtual(Target.class, "more", MethodType.methodType(int.class));
    }

    @Override
    synchronized void a() throws Exception {
      try {
        int read = (int) more.invokeExact(x);
      } catch (Throwable failure) {
        throw new AssertionError(failure);
      }
    }

    @Override
    synchronized void b() throws Exception {
      try {
        Object read = more.invoke(x);
      } catch (Throwable failure) {
        throw new AssertionError(failure);
      }
    }
  }

  @Expect("unknown")
  static final class MethodHandleOfField extends Case {
    final Target x = new Target();
    final MethodHandle getter = Target.getter();
    final MethodHandle setter = Target.setter();
    MethodHandleOfField() throws ReflectiveOperationException {}

    @Override
    synchronized void a() throws Exception {
      try {
        setter.invokeExact(x, 5);
        setter.invokeExact(x, 6);
      } catch (Throwable failure) {
        throw new AssertionError(failure);
      }
    }

    @Override
    synchronized void b() throws Exception {
      try {
        int read = (int) getter.invokeExact(x);
      } catch (Throwable failure) {
        throw new AssertionError(failure);
      }
    }
  }

  @Expect("unknown")
  static final class MethodHandleOfArray extends Case {
    final int[] x = new int[5];
    final MethodHandle setter = MethodHandles.arrayElementSetter(int[].class);

    @Override
    synchronized void a() throws Exception {
      try {
        setter.invokeExact(x, 3, 5);
        setter.invokeExact(x, 3, 6);
      } catch (Throwable failure) {
        throw new AssertionError(failure);
      }
    }

    @Override
    synchronized void b() throws Exception {
      int read = x[3];
    }
  }

  @Expect("unknown")
  static final class MethodHandleInFilter extends Case {
    final Target x = new Target();
    final MethodHandle bound = Target.getter().bindTo(x);
    MethodHandleInFilter() throws ReflectiveOperationException {}

    @Override
    synchronized void a() throws Exception {
      try {
        Object read = bound.invokeWithArguments();
      } catch (Throwable failure) {
        throw new AssertionError(failure);
      }
    }

    @Override
    synchronized void b() throws Exception {
      x.number = x.number + 1;
    }
  }
}
