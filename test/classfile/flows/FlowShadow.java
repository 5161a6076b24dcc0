import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the shadows of the random programs share: programs in which the generator wrote out, beside each step, what becomes of
 * the taints. A taint set is a long with a bit for each taint.
 */
public final class FlowShadow {
    public static final List<String> values = new ArrayList<>();
    public static final List<String> taints = new ArrayList<>();

    public static long ret, thrown, controls;
    private static int fuel;
    private static final Map<Object, long[]> elements = new IdentityHashMap<>();

    private FlowShadow() {}

    public static void start() {
        ret = thrown = controls = 0;
        fuel = 400;
        values.clear();
        taints.clear();
    }

    public static boolean fuel() {
        return --fuel > 0;
    }

    private static String text(long set) {
        List<Integer> taints = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            if ((set >>> i & 1) != 0) taints.add(i);
        }
        return taints.toString();
    }

    private static void see(String value, long set) {
        values.add(value);
        taints.add(text(set));
    }

    public static void seen(int value, long set) {
        see("" + value, set);
    }

    public static void seen(long value, long set) {
        see("" + value, set);
    }

    public static void seen(double value, long set) {
        see("" + value, set);
    }

    public static void seen(boolean value, long set) {
        see("" + value, set);
    }

    public static void seen(Object value, long set) {
        see(value == null || value instanceof String || value instanceof Number ? "" + value : "object", set);
    }

    public static void controlled() {
        see("controlled", controls);
        controls = 0;
    }

    public static long element(Object array, int index) {
        long[] sets = elements.get(array);
        return sets == null ? 0 : sets[index];
    }

    public static void setElement(Object array, int index, long set) {
        elements.computeIfAbsent(array, added -> new long[java.lang.reflect.Array.getLength(added)])[index] = set;
    }
}
