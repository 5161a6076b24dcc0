import java.util.concurrent.atomic.AtomicLong;

/**
 * What the rewritten sample of monitors calls. Counts what enters and what leaves, and what comes where it should not; the
 * totals are printed when the program ends.
 */
public final class MonitorCounts {
    private static final AtomicLong enters = new AtomicLong(), exits = new AtomicLong(), wrong = new AtomicLong();

    private MonitorCounts() {}

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(
                "monitors: " + enters + " entered, " + exits + " left, " + wrong + " wrong")));
    }

    public static long beforeEnter(Object object) {
        return System.identityHashCode(object) + (1L << 40);
    }

    public static void afterEnter(Object object, long token) {
        if (token != System.identityHashCode(object) + (1L << 40) || !Thread.holdsLock(object)) wrong.incrementAndGet();
        enters.incrementAndGet();
    }

    public static void beforeExit(Object object) {
        if (!Thread.holdsLock(object)) wrong.incrementAndGet();
        exits.incrementAndGet();
    }
}
