package java.lang;

import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * What classes tell whose accesses are rewritten: counted. It can be called before the JVM is up.
 *
 * {@code ContrafactObserver never|always|alternately CLASS ARGUMENTS...} runs a program whose methods run in their own
 * bodies, in their second ones, or in both by turns; then prints the counts. They are exact with one thread.
 */
public final class ContrafactObserver {
    public static int observers;

    private static boolean alternating, alternate;
    private static long reads, writes, changes, additions, made, elementsRead, elementsStored;

    private ContrafactObserver() {}

    public static void main(String[] args) throws Exception {
        Class<?> program = Class.forName(args[1], true, ClassLoader.getSystemClassLoader());
        Method main = program.getMethod("main", String[].class);
        Runtime.getRuntime().addShutdownHook(new Thread(ContrafactObserver::print));
        alternating = args[0].equals("alternately");
        observers = args[0].equals("never") ? 0 : 1;
        main.invoke(null, (Object) Arrays.copyOfRange(args, 2, args.length));
        observers = 0;
    }

    private static void print() {
        observers = 0;
        System.out.println("told: " + reads + " reads, " + writes + " writes, " + elementsRead + " elements read, "
                + elementsStored + " stored, " + changes + " changes, " + additions + " additions, "
                + made + " arrays made");
    }

    public static boolean observing() {
        return !alternating || (alternate = !alternate);
    }

    public static void read(Object object, int number) {
        reads++;
    }

    public static void readStatic(int number) {
        reads++;
    }

    private static void write(boolean change, int number) {
        writes++;
        if (change) changes++;
        if (number < 0) additions++;
    }

    public static void wrote(Object object, int before, int after, int number) {
        write(before != after, number);
    }

    public static void wrote(Object object, long before, long after, int number) {
        write(before != after, number);
    }

    public static void wrote(Object object, float before, float after, int number) {
        write(before != after, number);
    }

    public static void wrote(Object object, double before, double after, int number) {
        write(before != after, number);
    }

    public static void wrote(Object object, Object before, Object after, int number) {
        write(before != after, number);
    }

    public static void wroteStatic(int before, int after, int number) {
        write(before != after, number);
    }

    public static void wroteStatic(long before, long after, int number) {
        write(before != after, number);
    }

    public static void wroteStatic(float before, float after, int number) {
        write(before != after, number);
    }

    public static void wroteStatic(double before, double after, int number) {
        write(before != after, number);
    }

    public static void wroteStatic(Object before, Object after, int number) {
        write(before != after, number);
    }

    public static void readElement(Object array, int index) {
        elementsRead++;
    }

    private static void store(boolean change, int adds) {
        elementsStored++;
        if (change) changes++;
        if (adds != 0) additions++;
    }

    private static boolean has(int length, int index) {
        return index >= 0 && index < length;
    }

    public static void storing(int[] array, int index, int value, int adds) {
        store(array != null && has(array.length, index) && array[index] != value, adds);
    }

    public static void storing(long[] array, int index, long value, int adds) {
        store(array != null && has(array.length, index) && array[index] != value, adds);
    }

    public static void storing(float[] array, int index, float value, int adds) {
        store(array != null && has(array.length, index) && array[index] != value, adds);
    }

    public static void storing(double[] array, int index, double value, int adds) {
        store(array != null && has(array.length, index) && array[index] != value, adds);
    }

    public static void storing(Object[] array, int index, Object value, int adds) {
        store(array != null && has(array.length, index) && array[index] != value, adds);
    }

    public static void storing(char[] array, int index, int value, int adds) {
        store(array != null && has(array.length, index) && array[index] != (char) value, adds);
    }

    public static void storing(short[] array, int index, int value, int adds) {
        store(array != null && has(array.length, index) && array[index] != (short) value, adds);
    }

    /** Of bytes or booleans. */
    public static void storing(Object array, int index, int value, int adds) {
        if (array instanceof byte[]) {
            byte[] bytes = (byte[]) array;
            store(has(bytes.length, index) && bytes[index] != (byte) value, adds);
        } else {
            boolean[] booleans = (boolean[]) array;
            store(booleans != null && has(booleans.length, index) && booleans[index] != ((value & 1) != 0), adds);
        }
    }

    public static void made(Object array) {
        if (observers != 0) made++;
    }
}
