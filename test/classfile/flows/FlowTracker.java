import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The tracker of the test programs, as simple as can be: each taint is the number of a set, fields and elements have theirs in
 * maps. One thread. What give() and seen() are called with is known as of any call of code that carries no taints; without such
 * calls around them, as in a program that was not rewritten, they know of values only.
 */
public final class FlowTracker {
    /** The lock whose sections are tracked, besides those of begin() and end(). */
    public static final Object LOCK = new Object();

    public static final List<String> values = new ArrayList<>();
    public static final List<String> taints = new ArrayList<>();

    private static final List<TreeSet<Integer>> sets = new ArrayList<>(List.of(new TreeSet<>()));
    private static final Map<TreeSet<Integer>, Integer> numbers = new HashMap<>(Map.of(sets.get(0), 0));
    private static final Map<Object, Map<Integer, Integer>> fields = new IdentityHashMap<>();
    private static final Map<Object, Map<Integer, Integer>> elements = new IdentityHashMap<>();
    private static final Map<Integer, Integer> statics = new HashMap<>();

    private static int callee, returned, result, thrown, controls, lastLocked, inputTaint;
    private static int begun;
    private static int fuel;
    private static Map<Integer, Integer> arguments = Map.of(), parameters = Map.of();
    public static final List<Object> monitors = new ArrayList<>(List.of(LOCK));

    private FlowTracker() {}

    // ---- what programs call

    public static void start() {
        callee = returned = result = thrown = controls = begun = inputTaint = 0;
        fuel = 400;
        values.clear();
        taints.clear();
    }

    public static boolean fuel() {
        return --fuel > 0;
    }

    private static void give(int taint) {
        returned = callee;
        result = joined(argument(0), single(taint));
    }

    public static int give(int value, int taint) {
        give(taint);
        return value;
    }

    public static long give(long value, int taint) {
        give(taint);
        return value;
    }

    public static double give(double value, int taint) {
        give(taint);
        return value;
    }

    public static boolean give(boolean value, int taint) {
        give(taint);
        return value;
    }

    public static Object give(Object value, int taint) {
        give(taint);
        return value;
    }

    private static void see(String value) {
        values.add(value);
        taints.add(sets.get(argument(0)).toString());
    }

    public static void seen(int value) {
        see("" + value);
    }

    public static void seen(long value) {
        see("" + value);
    }

    public static void seen(double value) {
        see("" + value);
    }

    public static void seen(boolean value) {
        see("" + value);
    }

    /** Of objects of the program's own, only whether there is one. */
    public static void seen(Object value) {
        see(value == null || value instanceof String || value instanceof Number ? "" + value : "object");
    }

    /** What branches, switches and indexes depended on since it was called last. */
    public static void controlled() {
        values.add("controlled");
        taints.add(sets.get(controls).toString());
        controls = 0;
    }

    /** A section begins, whose inputs get this taint. */
    public static void begin(int taint) {
        ++begun;
        inputTaint = single(taint);
    }

    public static void end() {
        --begun;
    }

    /** The inputs of the next section of a monitor get this taint. */
    public static void next(int taint) {
        inputTaint = single(taint);
    }

    // ---- what rewritten code calls

    private static int single(int taint) {
        return number(new TreeSet<>(List.of(taint)));
    }

    private static int number(TreeSet<Integer> set) {
        return numbers.computeIfAbsent(set, added -> {
            sets.add(added);
            return sets.size() - 1;
        });
    }

    private static int argument(int index) {
        return arguments.getOrDefault(index, 0);
    }

    public static int joined(int a, int b) {
        TreeSet<Integer> set = new TreeSet<>(sets.get(a));
        set.addAll(sets.get(b));
        return number(set);
    }

    private static int of(Map<Object, Map<Integer, Integer>> map, Object object, int index) {
        return map.getOrDefault(object, Map.of()).getOrDefault(index, 0);
    }

    private static void set(Map<Object, Map<Integer, Integer>> map, Object object, int index, int taint) {
        map.computeIfAbsent(object, added -> new HashMap<>()).put(index, taint);
    }

    public static int field(Object object, int number) {
        return of(fields, object, number);
    }

    public static void setField(Object object, int number, int taint) {
        if (object != null) set(fields, object, number, taint);
    }

    public static int staticField(int number) {
        return statics.getOrDefault(number, 0);
    }

    public static void setStaticField(int number, int taint) {
        statics.put(number, taint);
    }

    public static int element(Object array, int index) {
        return of(elements, array, index);
    }

    public static void setElement(Object array, int index, int taint) {
        if (array != null && index >= 0 && index < java.lang.reflect.Array.getLength(array)) {
            set(elements, array, index, taint);
        }
    }

    public static void control(int taint) {
        controls = joined(controls, taint);
    }

    public static void calling(int method) {
        callee = method;
        returned = 0;
        arguments = new HashMap<>();
    }

    public static void argument(int index, int taint) {
        arguments.put(index, taint);
    }

    public static void entered(int method) {
        parameters = method == callee ? arguments : Map.of();
        callee = 0;
        arguments = Map.of();
    }

    public static int parameter(int index) {
        return parameters.getOrDefault(index, 0);
    }

    public static void returning(int method, int taint) {
        returned = method;
        result = taint;
    }

    public static int called(int method, int arguments) {
        int taint = returned == method ? result : arguments;
        returned = callee = 0;
        FlowTracker.arguments = Map.of();
        return taint;
    }

    public static void throwing(int taint) {
        thrown = taint;
    }

    public static int caught() {
        int taint = thrown;
        thrown = returned = callee = 0;
        arguments = Map.of();
        return taint;
    }

    public static int depth() {
        int depth = begun;
        for (Object monitor : monitors) depth += Thread.holdsLock(monitor) ? 1 : 0;
        return depth;
    }

    public static int inputs() {
        return inputTaint;
    }

    /** What a synchronized method will return is live out of its section. */
    public static void result(int taint) {
        output(taint);
    }

    public static void output(int taint) {
        values.add("output");
        taints.add(sets.get(taint).toString());
    }
}
