package java.lang;

/**
 * What classes call whose code carries taints: answers anything, and never the same for long, so that the code which depends on
 * that runs, too. It can be called before the JVM is up.
 */
public final class ContrafactTracker {
    private static int calls;

    private ContrafactTracker() {}

    public static int joined(int a, int b) {
        return a | b;
    }

    public static int field(Object object, int number) {
        return ++calls;
    }

    public static int staticField(int number) {
        return ++calls;
    }

    public static void setField(Object object, int number, int taint) {}

    public static void setStaticField(int number, int taint) {}

    public static int element(Object array, int index) {
        return ++calls;
    }

    public static void setElement(Object array, int index, int taint) {}

    public static void control(int taint) {}

    public static void entered(int method) {}

    public static int parameter(int index) {
        return ++calls;
    }

    public static void calling(int method) {}

    public static void argument(int index, int taint) {}

    public static int called(int method, int arguments) {
        return ++calls;
    }

    public static void returning(int method, int taint) {}

    public static void throwing(int taint) {}

    public static int caught() {
        return ++calls;
    }

    public static int depth() {
        return ++calls >> 3 & 3;
    }

    public static int inputs() {
        return ++calls;
    }

    public static void output(int taint) {}

    public static void result(int taint) {}
}
