import java.util.ArrayList;
import java.util.List;

/**
 * What critical sections get as inputs and give out, by hand: which variables are live where a section begins or ends. To be run
 * with its code rewritten. The inputs of a section get the taint that FlowTracker.next names.
 */
public class FlowSections {
    private static int failures, checks;

    int number;

    /** Of what was seen since the last time, in order, and what was given out. */
    static void check(String what, String expected) {
        List<String> found = new ArrayList<>();
        for (int i = 0; i < FlowTracker.taints.size(); i++) {
            boolean isOutput = FlowTracker.values.get(i).equals("output");
            String taint = FlowTracker.taints.get(i);
            if (!isOutput || !taint.equals("[]")) found.add((isOutput ? "out" : "") + taint);
        }
        ++checks;
        if (!String.join(" ", found).equals(expected)) {
            ++failures;
            System.out.println("FAILED " + what + ": " + String.join(" ", found) + ", expected " + expected);
        }
        FlowTracker.start();
    }

    /** What is live at the beginning gets the taint, and what is live at the end is given out. */
    static void block() {
        int x = FlowTracker.give(1, 1), dead = 2, y = 3, z;
        FlowTracker.seen(dead);
        FlowTracker.next(20);
        Object lock = FlowTracker.LOCK;
        synchronized (lock) {
            FlowTracker.seen(x);
            FlowTracker.seen(y);
            dead = 4;
            z = dead;
            y = 0;
        }
        FlowTracker.seen(x);
        FlowTracker.seen(y);
        FlowTracker.seen(z);
        FlowTracker.seen(lock);
        check("block", "[] [1, 20] [20] out[1, 20] [1, 20] [] [] []");
    }

    /** Of another object than the tracker's no section begins. */
    static void others() {
        int x = FlowTracker.give(1, 1);
        FlowTracker.next(20);
        synchronized (new Object()) {
            FlowTracker.seen(x);
        }
        FlowTracker.seen(x);
        check("others", "[1] [1]");
    }

    void ofThis() {
        FlowTracker.next(21);
        number = 5;
        long x = 1;
        synchronized (this) {
            FlowTracker.seen(number + x);
            FlowTracker.seen(number);
            x = 2;
        }
        FlowTracker.seen(this);
        FlowTracker.seen(x);
        FlowTracker.next(22);
        synchronized (FlowTracker.LOCK) {
            FlowTracker.seen(number);
        }
        check("ofThis", "[21] [] [] [] []");
    }

    synchronized int locked(int x, long unread, double z) {
        FlowTracker.seen(number);
        FlowTracker.seen(z);
        return x;
    }

    static synchronized long ofClass(long x) {
        return x + 1;
    }

    static void methods() {
        FlowSections of = new FlowSections();
        FlowTracker.next(22);
        FlowTracker.seen(of.locked(FlowTracker.give(1, 1), 2, 3));
        FlowTracker.monitors.add(of);
        FlowTracker.next(22);
        FlowTracker.seen(of.locked(FlowTracker.give(1, 1), 2, 3));
        FlowTracker.monitors.add(FlowSections.class);
        FlowTracker.next(23);
        FlowTracker.seen(ofClass(4));
        FlowTracker.monitors.subList(1, 3).clear();
        check("methods", "[] [] out[1] [1] [] [22] out[1, 22] [1, 22] out[23] [23]");
    }

    /** By calls. The value on the stack stays as it was. */
    static void calls() {
        int x = FlowTracker.give(1, 1), y = 2;
        FlowTracker.begin(24);
        FlowTracker.seen(x);
        int sum = x + y;
        y = 0;
        FlowTracker.end();
        FlowTracker.seen(sum);
        FlowTracker.seen(y);
        check("calls", "[1, 24] out[1, 24] [1, 24] []");
    }

    static void nested() {
        int x = 1, y = 2;
        FlowTracker.begin(25);
        FlowTracker.seen(x);
        FlowTracker.begin(26);
        FlowTracker.seen(y);
        FlowTracker.end();
        x = 0;
        FlowTracker.end();
        FlowTracker.seen(x + y);
        check("nested", "[25] [25, 26] out[25, 26] out[25, 26] [25, 26]");
    }

    static int failing(int x) {
        if (x < 9) throw new IllegalStateException();
        return x;
    }

    /** A section that ends by an exception. */
    static void exceptions() {
        int x = 1, y = 2;
        FlowTracker.next(27);
        try {
            synchronized (FlowTracker.LOCK) {
                y = x;
                x = 3;
                failing(x);
            }
        } catch (IllegalStateException e) {
            FlowTracker.seen(x);
            FlowTracker.seen(y);
        }
        check("exceptions", "out[27] [] [27]");
    }

    static int begins(int x) {
        FlowTracker.begin(28);
        return x;
    }

    static void ends() {
        int unread = FlowTracker.give(1, 1);
        FlowTracker.end();
    }

    /** Sections begin and end in other methods than they are in. */
    static void apart() {
        int x = 1, y = 2;
        FlowTracker.seen(begins(x));
        FlowTracker.seen(x);
        ends();
        FlowTracker.seen(y);
        check("apart", "[28] [28] out[28] [28]");
    }

    static void loops() {
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            FlowTracker.next(30 + i);
            synchronized (FlowTracker.LOCK) {
                sum += i;
            }
        }
        FlowTracker.seen(sum);
        FlowTracker.controlled();
        check("loops", "out[30] out[30] out[30, 31] out[30, 31] out[30, 31, 32] out[30, 31, 32] [30, 31, 32] [30, 31, 32]");
    }

    public static void main(String[] args) {
        FlowTracker.start();
        block();
        others();
        FlowSections of = new FlowSections();
        FlowTracker.monitors.add(of);
        of.ofThis();
        FlowTracker.monitors.remove(of);
        methods();
        calls();
        nested();
        exceptions();
        apart();
        loops();
        System.out.println(checks + " checks, " + failures + " failed");
    }
}
