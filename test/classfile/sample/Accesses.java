import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * Every kind of access to fields, statics and elements of arrays, in every kind of method. It prints the same whichever
 * bodies run, and runs each method often enough to be compiled. One thread.
 */
public class Accesses {
    private static final int ROUNDS = 3000;  // HotSpot is told to compile what is called 1000 times

    private boolean truth;
    private byte small;
    private char letter;
    private short brief;
    private int number;
    private long big;
    private float rough;
    private double exact;
    private volatile String text;
    private int[] array;
    protected Accesses next;

    private static boolean staticTruth;
    private static int staticNumber;
    private static long staticBig;
    private static float staticRough;
    private static double staticExact;
    private static Object staticText;

    private final int fixed;

    interface Shape {
        int size();

        default int twice(int more) {
            return helper(this, more) + privately(more);
        }

        private int privately(int more) {
            return size() + more;
        }

        static int helper(Shape shape, int more) {
            return shape.size() - more;
        }
    }

    /** With a constructor that writes this$0 before it calls another one, and one that computes its arguments. */
    class Box extends Accesses implements Shape {
        int size;

        Box(int size) {
            super(size + number);
            this.size = size;
            this.size += number;
        }

        Box(int[] sizes, int index) {
            this(sizes[index] += 2);
            size++;
        }

        @Override
        public int size() {
            return size + Accesses.this.number;
        }
    }

    Accesses(int fixed) {
        this.fixed = fixed;
        number = 1;
    }

    void writesAll(int i) {
        truth = i % 2 == 0;
        small = (byte) i;
        letter = (char) i;
        brief = (short) i;
        number = i;
        big = i * 10_000_000_000L;
        rough = i / 3f;
        exact = i / 3.0;
        text = i % 5 == 0 ? null : "five";
        array = new int[] {i, -i};
    }

    double readsAll() {
        int length = text == null ? 0 : text.length();
        return (truth ? 1 : 0) + small + letter + brief + number + big + rough + exact + length + array[1];
    }

    static double statics(int i) {
        staticTruth = !staticTruth;
        staticNumber += i;
        staticBig -= i;
        staticRough += 0.5f;
        staticExact += 0.25;
        staticText = i % 3 == 0 ? null : "three";
        int isNull = staticText == null ? 1 : 0;
        return (staticTruth ? 1 : 0) + staticNumber++ + --staticBig + staticRough + staticExact + isNull;
    }

    long updates(int i, long more) {
        number += i;
        number -= 3;
        number++;
        big += more;
        big -= i;
        small += i;
        letter++;
        brief -= 2;
        rough *= 0.5f;
        exact += i;
        int before = number++;
        long after = ++big;
        array[0] += i;
        array[1]--;
        int element = array[0]++;
        next = this;
        next.next.number += i % 2 == 0 ? 1 : 2;
        return before + after + element + number + (long) exact + array[0] + array[1] + fixed;
    }

    static double elements(int i) {
        boolean[] booleans = {true, false};
        byte[] bytes = {1, 2};
        char[] chars = {'a', 'b'};
        short[] shorts = {3, 4};
        int[] ints = {5, 6};
        long[] longs = {7, 8};
        float[] floats = {9, 10};
        double[] doubles = {11, 12};
        String[] strings = {"thirteen", null};
        int[][] matrix = new int[2][3];
        int at = i & 1;
        booleans[at] = !booleans[at];
        bytes[at] += i;
        chars[at]++;
        shorts[at] = (short) i;
        ints[at] += i;
        longs[at] -= i;
        longs[at] += 1_000_000_000_000L;
        floats[at] += i;
        doubles[at] *= 2;
        strings[at] = strings[1 - at];
        matrix[at][2] += ints[at]++;
        double sum = (booleans[0] ? 1 : 0) + bytes[at] + chars[at] + shorts[at] + ints[at] + longs[at] + floats[at];
        return sum + doubles[at] + Arrays.hashCode(strings) + matrix[at][2];
    }

    static int failures(Accesses of, int[] numbers, Object[] objects, int index) {
        int failed = 0;
        try {
            of.number += 1;
        } catch (NullPointerException expected) {
            failed += 1;
        }
        try {
            of.text = "text";
        } catch (NullPointerException expected) {
            failed += 2;
        }
        try {
            failed += of.number & 0;
        } catch (NullPointerException expected) {
            failed += 4;
        }
        try {
            numbers[index] = index;
        } catch (NullPointerException | ArrayIndexOutOfBoundsException expected) {
            failed += 8;
        }
        try {
            failed += numbers[index] & 0;
        } catch (NullPointerException | ArrayIndexOutOfBoundsException expected) {
            failed += 16;
        }
        try {
            objects[0] = objects;
        } catch (NullPointerException | ArrayStoreException expected) {
            failed += 32;
        }
        try {
            int[] none = new int[index];
            failed += none.length & 0;
        } catch (NegativeArraySizeException expected) {
            failed += 64;
        }
        return failed;
    }

    /** Objects that are not initialized yet are on the stack while fields and elements are accessed. */
    int nested(int i) {
        int[] sizes = {i, i + 1};
        Box box = new Box(new Box(number += 2).size -= 3);
        return box.size() + new Box(sizes, sizes[0] - i).twice(i % 3) + ((Accesses) box).number;
    }

    // The first takes `this` where the other one takes its argument.
    int same(int i) {
        return number + i;
    }

    static int same(Accesses of, int i) {
        return of.number - i;
    }

    synchronized int locked(int i) {
        return number += i;
    }

    static synchronized double wide(long a, double b, int c, float d, long e, Accesses of) {
        of.big += a + e;
        return a * b + c + d - e + of.big;
    }

    int recursive(int depth) {
        number++;
        return depth == 0 ? number : recursive(depth - 1) + 1;
    }

    int loops(int times) {
        int sum = 0;
        for (int i = 0; i < times; i++) {
            if (i % 3 == 1) continue;
            number += i;
            sum += array[i % 2] ^ number;
        }
        return sum;
    }

    int lambda(int i) {
        IntUnaryOperator adds = n -> number += n;
        return adds.applyAsInt(i) + adds.andThen(n -> n - number).applyAsInt(1);
    }

    /** The methods and lines of a stack trace in which each method is once, whatever bodies it has. */
    void throwsException(int i) {
        number = i;
        throw new IllegalStateException("thrown");
    }

    static String trace(Accesses of) {
        StringBuilder trace = new StringBuilder();
        try {
            of.throwsException(1);
        } catch (IllegalStateException thrown) {
            StackTraceElement previous = null;
            for (StackTraceElement frame : thrown.getStackTrace()) {
                if (!frame.getClassName().equals("Accesses")) break;
                if (previous != null && frame.getMethodName().equals(previous.getMethodName())) continue;
                trace.append(' ').append(frame.getMethodName()).append(':').append(frame.getLineNumber());
                previous = frame;
            }
            for (StackTraceElement frame : thrown.getStackTrace()) {
                if (frame.getClassName().equals("Accesses") && frame.getLineNumber() <= 0) trace.append(" no line");
            }
        }
        return trace.toString();
    }

    static void print(String what, Object result) {
        System.out.println("= " + what + " " + result);
    }

    private double round(int i) {
        writesAll(i);
        double sum = readsAll() + statics(i) + updates(i, i * 3L) + elements(i) + nested(i);
        sum += failures(this, array, new Object[1], 0) + failures(null, null, null, -1);
        sum += failures(this, array, new String[1], 2);
        sum += same(i) + same(this, i) + locked(i) + wide(i, 0.5, i, 1.5f, -i, this);
        return sum + recursive(i % 4) + loops(i % 7) + lambda(i) + fixed;
    }

    public static void main(String[] args) {
        Accesses accesses = new Accesses(42);
        long hash = 0;
        for (int i = 1; i <= ROUNDS; i++) hash = 31 * hash + Double.doubleToRawLongBits(accesses.round(i));
        print("hash", hash);
        print("failures", failures(null, null, null, -1) + " " + failures(accesses, new int[1], new Integer[1], 3));
        print("number", accesses.number + " " + accesses.big + " " + accesses.readsAll());
        print("statics", staticNumber + " " + staticBig + " " + staticExact);
        print("trace", trace(accesses));
    }
}
