/** What rewritten sample programs tell: printed at once. */
public final class Probe {
    private Probe() {}

    public static void tell(String what) {
        System.out.println(what);
    }

    public static void object(Object object) {
        if (object == null) System.out.println("no object");
    }
}
