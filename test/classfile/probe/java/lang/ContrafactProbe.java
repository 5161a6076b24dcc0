package java.lang;

/** What the rewritten classes of the tests call. Does nothing, so that it can be called before the JVM is up. */
public final class ContrafactProbe {
    private ContrafactProbe() {}

    public static void event() {}

    public static void object(Object object) {}
}
