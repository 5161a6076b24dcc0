import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * A method for each family of instructions and each construct, with the taints that FlowProf's table 1 gives to what is seen in it.
 * To be run with its code rewritten. The sets are written by hand.
 */
public class Flows {
    private static int failures, checks;

    int number;
    long big;
    double exact;
    Object reference;
    int[] array;
    int untracked;

    static int staticNumber;
    static long staticBig;
    static Object staticReference;

    Flows() {}

    Flows(int number, long big) {
        this.number = number;
        this.big = big;
    }

    /** Of all that was seen since the last time, in order; not what sections gave out. */
    static void check(String what, String expected) {
        List<String> seen = new ArrayList<>();
        for (int i = 0; i < FlowTracker.taints.size(); i++) {
            if (!FlowTracker.values.get(i).equals("output")) seen.add(FlowTracker.taints.get(i));
        }
        String found = String.join(" ", seen);
        ++checks;
        if (!found.equals(expected)) {
            ++failures;
            System.out.println("FAILED " + what + ": " + found + ", expected " + expected + "; values " + FlowTracker.values);
        }
        FlowTracker.start();
    }

    static int one() {
        return FlowTracker.give(7, 1);
    }

    static int two() {
        return FlowTracker.give(3, 2);
    }

    static long three() {
        return FlowTracker.give(5L, 3);
    }

    static double four() {
        return FlowTracker.give(0.5, 4);
    }

    static Flows five(Flows of) {
        return (Flows) FlowTracker.give((Object) of, 5);
    }

    // ---- arithmetic

    static void operations() {
        int a = one(), b = two();
        long c = three();
        double d = four();
        FlowTracker.seen(a + b);
        FlowTracker.seen(a - 1);
        FlowTracker.seen(-a);
        FlowTracker.seen(a << b);
        FlowTracker.seen(c >>> b);
        FlowTracker.seen(c * 3 / c);
        FlowTracker.seen(d % 2);
        FlowTracker.seen((long) d + c);
        FlowTracker.seen((byte) a);
        FlowTracker.seen((float) a * (float) d);
        FlowTracker.seen(5);
        check("operations", "[1, 2] [1] [1] [1, 2] [2, 3] [3] [4] [3, 4] [1] [1, 4] []");
    }

    static void locals() {
        int x = one();
        x++;
        x += 100;
        FlowTracker.seen(x);
        x += two();
        FlowTracker.seen(x);
        int y = x;
        x = 0;
        FlowTracker.seen(x);
        FlowTracker.seen(y);
        long z = three();
        z++;
        double w = z;
        z = 1;
        FlowTracker.seen(w);
        FlowTracker.seen(z);
        int before = y++ + (y = two());
        FlowTracker.seen(before);
        FlowTracker.seen(y);
        check("locals", "[1] [1, 2] [] [1, 2] [3] [] [1, 2] [2]");
    }

    /** What is loaded before a local is overwritten keeps its taint. */
    static void overwritten() {
        int x = one();
        long y = three();
        int sum = x + (x = two()) + (x = 9) * x;
        FlowTracker.seen(sum);
        long other = y + (y = 1) + y;
        FlowTracker.seen(other);
        FlowTracker.seen(x);
        check("overwritten", "[1, 2] [3] []");
    }

    static void comparisons() {
        int a = one(), b = two();
        long c = three();
        double d = four();
        boolean less = a < b;
        FlowTracker.seen(less);
        FlowTracker.controlled();
        FlowTracker.seen(c < 3 ? 1 : 2);
        FlowTracker.controlled();
        FlowTracker.seen(d > 0.1 ? a : b);
        FlowTracker.controlled();
        FlowTracker.seen(d > 0.9 ? a : b);
        FlowTracker.controlled();
        if (less & (boolean) FlowTracker.give(true, 8)) FlowTracker.seen(b);
        FlowTracker.controlled();
        check("comparisons", "[] [1, 2] [] [3] [1] [4] [2] [4] [8]");
    }

    static void references() {
        Object o = FlowTracker.give((Object) "text", 1), p = o;
        FlowTracker.seen((String) o);
        FlowTracker.seen(o instanceof String);
        FlowTracker.controlled();
        FlowTracker.seen(o == p ? 1 : 0);
        FlowTracker.controlled();
        FlowTracker.seen(o != null ? 1 : 0);
        FlowTracker.controlled();
        p = null;
        FlowTracker.seen(p);
        check("references", "[1] [1] [] [] [1] [] [1] []");
    }

    static void switches() {
        int x = one(), y = two(), z = 0;
        switch (x) {
            case 6: z = 1; break;
            case 7: z = y; break;
            default: z = 2;
        }
        FlowTracker.seen(z);
        FlowTracker.controlled();
        switch (y) {
            case -1000: z = 1; break;
            case 100000: z = y; break;
            default: z = 2;
        }
        FlowTracker.seen(z);
        FlowTracker.controlled();
        check("switches", "[2] [1] [] [2]");
    }

    // ---- fields

    static void fields() {
        Flows f = new Flows();
        f.number = one();
        f.big = three();
        FlowTracker.seen(f.number);
        FlowTracker.seen(f.big);
        Flows g = five(f);
        FlowTracker.seen(g.number);
        FlowTracker.seen(f.number);
        g.number = two();
        FlowTracker.seen(f.number);
        f.number = 0;
        FlowTracker.seen(f.number);
        FlowTracker.seen(g.number);
        check("fields", "[1] [3] [1, 5] [1] [2] [] [5]");
    }

    static void updatesOfFields() {
        Flows f = new Flows();
        f.number = one();
        FlowTracker.seen(f.number++);
        FlowTracker.seen(++f.number);
        FlowTracker.seen(f.number += two());
        f.big = three();
        FlowTracker.seen(f.big++);
        FlowTracker.seen(f.big += f.number);
        FlowTracker.seen(f.exact = f.big = f.number = 3);
        FlowTracker.seen(f.exact);
        Flows g = five(f);
        g.number += 1;
        FlowTracker.seen(f.number);
        staticNumber = two();
        FlowTracker.seen(staticNumber++ + staticNumber);
        FlowTracker.seen(staticBig = staticNumber);
        staticBig = 0;
        FlowTracker.seen(staticBig);
        staticReference = FlowTracker.give((Object) "r", 6);
        FlowTracker.seen(staticReference);
        check("updatesOfFields", "[1] [1] [1, 2] [3] [1, 2, 3] [] [] [5] [2] [2] [] [6]");
    }

    /** A field without a taint of its own: a read yields that of the object. */
    static void untrackedField() {
        Flows f = new Flows();
        f.untracked = one();
        FlowTracker.seen(f.untracked);
        FlowTracker.seen(five(f).untracked);
        check("untrackedField", "[] [5]");
    }

    static class Late {
        static int value = FlowTracker.give(1, 9);
        static long other = FlowTracker.give(1L, 10);
    }

    /** The read of a field runs the initialiser of its class. */
    static void initialisers() {
        FlowTracker.seen(Late.value);
        FlowTracker.seen(Late.other);
        check("initialisers", "[9] [10]");
    }

    // ---- arrays

    static void arrays() {
        int[] x = {one(), two(), 0};
        FlowTracker.seen(x[0]);
        FlowTracker.seen(x[1] + x[2]);
        FlowTracker.seen(x.length);
        int[] y = (int[]) FlowTracker.give((Object) x, 6);
        FlowTracker.seen(y[0]);
        FlowTracker.seen(y[2]);
        FlowTracker.seen(y.length);
        FlowTracker.controlled();
        FlowTracker.seen(x[two() - 2]);
        FlowTracker.controlled();
        x[one() - 7] = 3;
        FlowTracker.seen(x[0]);
        FlowTracker.controlled();
        check("arrays", "[1] [2] [] [1, 6] [6] [6] [] [2] [2] [] [1]");
    }

    static void kindsOfArrays() {
        byte[] bytes = {(byte) one()};
        boolean[] truths = {FlowTracker.give(true, 2)};
        char[] chars = {(char) one()};
        short[] shorts = {(short) two()};
        long[] longs = {three()};
        float[] floats = {(float) four()};
        double[] doubles = {four()};
        Object[] objects = {FlowTracker.give((Object) "o", 6)};
        FlowTracker.seen(bytes[0]);
        FlowTracker.seen(truths[0]);
        FlowTracker.seen(chars[0]);
        FlowTracker.seen(shorts[0]);
        FlowTracker.seen(longs[0]);
        FlowTracker.seen(floats[0]);
        FlowTracker.seen(doubles[0]);
        FlowTracker.seen(objects[0]);
        check("kindsOfArrays", "[1] [2] [1] [2] [3] [4] [4] [6]");
    }

    static void updatesOfElements() {
        int[] x = {one(), 0};
        long[] y = {three(), 0};
        FlowTracker.seen(x[0]++);
        FlowTracker.seen(x[0] += two());
        FlowTracker.seen(y[0]++);
        FlowTracker.seen(y[0] += x[0]);
        FlowTracker.seen(y[1] = x[1] = 4);
        FlowTracker.seen(y[1]);
        int[] z = (int[]) FlowTracker.give((Object) x, 6);
        z[1]++;
        FlowTracker.seen(x[1]);
        check("updatesOfElements", "[1] [1, 2] [3] [1, 2, 3] [] [] [6]");
    }

    static void sizes() {
        int[] x = new int[one()];
        FlowTracker.seen(x);
        FlowTracker.controlled();
        Object[] y = new String[two()];
        FlowTracker.seen(y[0]);
        FlowTracker.controlled();
        long[][] z = new long[one()][two()];
        FlowTracker.seen(z[0][0]);
        FlowTracker.controlled();
        z[1][two() - 3] = three();
        FlowTracker.seen(z[1][0]);
        FlowTracker.controlled();
        z[0] = (long[]) FlowTracker.give((Object) z[1], 7);
        FlowTracker.seen(z[0][0]);
        FlowTracker.seen(z[1][0]);
        check("sizes", "[] [1] [] [2] [] [1, 2] [3] [2] [3, 7] [3]");
    }

    // ---- calls

    static int second(long first, int second, double third) {
        return second;
    }

    static int first(int first, int second, int third) {
        return first;
    }

    static double all(int x, long y, double z, Flows f) {
        return x + y + z + f.number;
    }

    int number(int more) {
        return number + more;
    }

    interface Shape {
        long size(long more);

        default long twice(long more) {
            return size(more) * 2;
        }
    }

    static class Square implements Shape {
        long side;

        public long size(long more) {
            return side + more;
        }
    }

    static void calls() {
        FlowTracker.seen(second(three(), two(), four()));
        FlowTracker.seen(second(three(), 1, four()));
        Flows f = new Flows();
        f.number = FlowTracker.give(1, 9);
        FlowTracker.seen(all(one(), three(), four(), f));
        FlowTracker.seen(f.number(1));
        FlowTracker.seen(f.number(two()));
        FlowTracker.seen(five(f).number(0));
        Square s = new Square();
        s.side = three();
        FlowTracker.seen(s.size(0));
        FlowTracker.seen(((Shape) s).size(one()));
        FlowTracker.seen(((Shape) s).twice(one()));
        check("calls", "[2] [] [1, 3, 4, 9] [9] [2, 9] [5, 9] [3] [1, 3] [1, 3]");
    }

    /** What is called is not tracked: its result gets the union of its arguments. */
    static void callsOfOthers() {
        FlowTracker.seen(Math.max(one(), two()));
        FlowTracker.seen(Math.max(5, 6));
        FlowTracker.seen((Object) Integer.valueOf(one()));
        FlowTracker.seen((Object) ("a" + one() + three()));
        FlowTracker.seen(((String) FlowTracker.give((Object) "abc", 6)).charAt(two()  - 3));
        check("callsOfOthers", "[1, 2] [] [1] [1, 3] [2, 6]");
    }

    static int recursive(int depth, int x) {
        if (depth == 0) return x;
        return recursive(depth - 1, x + depth);
    }

    static int swapped(int depth, int x, int y) {
        return depth == 0 ? x : swapped(depth - 1, y, x);
    }

    static void recursion() {
        FlowTracker.seen(recursive(3, one()));
        FlowTracker.seen(recursive(two(), one()));
        FlowTracker.seen(swapped(3, one(), two()));
        FlowTracker.seen(swapped(4, one(), two()));
        check("recursion", "[1] [1, 2] [2] [1]");
    }

    /** A lambda expression gets what it captures; its body is called by code that is not tracked. */
    static void lambdas() {
        int captured = one();
        IntUnaryOperator f = x -> {
            FlowTracker.seen(x + captured);
            return x + captured;
        };
        FlowTracker.seen(f.applyAsInt(two()));
        Supplier<Object> none = () -> "none";
        FlowTracker.seen(none.get());
        check("lambdas", "[] [1, 2] []");
    }

    // ---- objects

    static class Named extends RuntimeException {
        final int length;
        final int twice;

        Named(String name, int length) {
            super(name);
            this.length = length;
            twice = this.length * 2;
        }
    }

    static class Derived extends Flows {
        int more;

        Derived(int x, int y) {
            super(x + y, x);
            more = number + y;
        }

        Derived(int x) {
            this(x, x > 100 ? x : 2);
        }
    }

    static void objects() {
        Flows f = new Flows(one(), three());
        FlowTracker.seen(f);
        FlowTracker.seen(f.number);
        FlowTracker.seen(f.big);
        Derived d = new Derived(one(), two());
        FlowTracker.seen(d);
        FlowTracker.seen(d.number);
        FlowTracker.seen(d.more);
        FlowTracker.seen(d.big);
        FlowTracker.seen(new Derived(one()).more);
        FlowTracker.controlled();
        FlowTracker.seen(new Flows(new Flows(two(), 1).number, new Flows(1, three()).big).number);
        check("objects", "[] [1] [3] [] [1, 2] [1, 2] [1] [1] [1] [2]");
    }

    /** The constructor of what is not tracked gives the object the taints of its arguments, wherever the object is by then. */
    static void objectsOfOthers() {
        StringBuilder text = new StringBuilder(one());
        FlowTracker.seen((Object) text);
        FlowTracker.seen((Object) new StringBuilder());
        // The object is on the stack beneath the other one's, and beneath a branch.
        FlowTracker.seen((Object) new StringBuilder(new StringBuilder(two() > 2 ? one() : 0).capacity() + two()));
        Named n = new Named((String) FlowTracker.give((Object) "name", 6), one());
        FlowTracker.seen(n);
        FlowTracker.seen(n.length);
        FlowTracker.seen(n.twice);
        check("objectsOfOthers", "[1] [] [1, 2] [] [1] [1, 6]");
    }

    // ---- exceptions

    static int failing(int x) {
        if (x > 0) throw (Named) FlowTracker.give((Object) new Named("failing", x), 6);
        return 0;
    }

    static void exceptions() {
        int x = 0, y = two();
        try {
            x = one();
            y = failing(x);
            x = y;
        } catch (Named e) {
            FlowTracker.seen(e);
            FlowTracker.seen(e.length);
            FlowTracker.seen(x);
            FlowTracker.seen(y);
        }
        try {
            x = two();
            FlowTracker.seen(x / (y - y));
            x = 0;
        } catch (ArithmeticException e) {
            FlowTracker.seen(e);
            FlowTracker.seen(x);
        }
        check("exceptions", "[6] [1, 6] [1] [2] [] [2]");
    }

    static int finished(int x) {
        int y = 0;
        try {
            y = x;
            return failing(x) + x;
        } finally {
            FlowTracker.seen(y);
            y = 0;
        }
    }

    static void finallyBlocks() {
        FlowTracker.seen(finished(FlowTracker.give(-1, 8)));
        try {
            finished(one());
        } catch (Named e) {
            FlowTracker.seen(e);
        }
        check("finallyBlocks", "[8] [8] [1] [6]");
    }

    static void throwables() {
        try {
            throw (RuntimeException) FlowTracker.give((Object) new RuntimeException(), 9);
        } catch (IllegalStateException e) {
            FlowTracker.seen(0);
        } catch (RuntimeException e) {
            FlowTracker.seen(e);
        }
        try {
            Object none = FlowTracker.give((Object) null, 8);
            FlowTracker.seen(none.hashCode());
        } catch (NullPointerException e) {
            FlowTracker.seen(e);
        }
        check("throwables", "[9] []");
    }

    // ---- ways

    static void loops() {
        int x = one(), sum = 0;
        for (int i = 0; i < 3; i++) {
            FlowTracker.seen(sum);
            sum += x;
        }
        FlowTracker.seen(sum);
        FlowTracker.controlled();
        for (int i = 0; i < two(); i++) x = i;
        FlowTracker.seen(x);
        FlowTracker.controlled();
        int[] numbers = {two(), 0};
        for (int n : numbers) FlowTracker.seen(n);
        check("loops", "[] [1] [1] [1] [] [] [2] [2] []");
    }

    /** Taints on the stack meet at a branch's end. */
    static void meetings() {
        int x = one(), y = two();
        long z = three();
        FlowTracker.seen(second(z, x > 3 ? y : 0, 1));
        FlowTracker.seen(second(z, x > 9 ? y : 0, 1));
        FlowTracker.seen(x + (y > 0 ? x : (int) z) * (z > 100 ? y : 4));
        FlowTracker.seen(z + (x > 3 ? (z = 1) : (z = y)) + z);
        FlowTracker.seen(new Flows(x > 3 ? y : 0, z).number);
        FlowTracker.seen(first(x, y, z > 100 ? 1 : 0));
        check("meetings", "[2] [] [1] [3] [2] [1]");
    }

    static void monitors() {
        Object o = FlowTracker.give(new Object(), 6);
        int x = one();
        synchronized (o) {
            x += two();
        }
        FlowTracker.seen(x);
        FlowTracker.seen(o);
        try {
            synchronized (o) {
                x = 0;
                failing(5);
            }
        } catch (Named e) {
            FlowTracker.seen(x);
        }
        check("monitors", "[1, 2] [6] []");
    }

    synchronized long locked(long x) {
        return x + number;
    }

    static void synchronizedMethods() {
        Flows f = new Flows();
        f.number = one();
        FlowTracker.seen(f.locked(three()));
        check("synchronizedMethods", "[1, 3]");
    }

    public static void main(String[] args) {
        FlowTracker.start();
        operations();
        locals();
        overwritten();
        comparisons();
        references();
        switches();
        fields();
        updatesOfFields();
        untrackedField();
        initialisers();
        arrays();
        kindsOfArrays();
        updatesOfElements();
        sizes();
        calls();
        callsOfOthers();
        recursion();
        lambdas();
        objects();
        objectsOfOthers();
        exceptions();
        finallyBlocks();
        throwables();
        loops();
        meetings();
        monitors();
        synchronizedMethods();
        System.out.println(checks + " checks, " + failures + " failed");
    }
}
