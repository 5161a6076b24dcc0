package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * The off-heap buffer that the current thread writes to (include/contrafact/deferred_buffer.h). Initialised only after the
 * virtual machine is: it uses Unsafe.
 */
final class ContrafactBuffer {
  static final Unsafe U = Unsafe.getUnsafe();

  // A field that the agent adds.
  private static final long BUFFER = U.objectFieldOffset(Thread.class, "contrafactBuffer");  // address; -1 after the end

  private ContrafactBuffer() {}

  /** Links the native methods: the JVM's search for them runs Java code, which may have probes. Nulls have no effect. */
  static void prepare() {
    attach(null);
    swap(0);
  }

  // Found by the JVM in the agent.
  private static native long attach(Thread carrier);
  private static native long swap(long owner);

  /** The thread whose buffer is written; on JDKs with virtual threads the agent makes it the current carrier. */
  static Thread carrier() {
    return Thread.currentThread();
  }

  /** The current carrier's buffer, with room for one event; 0 if the event is lost. */
  static long current() {
    Thread carrier = carrier();
    long buffer = U.getLong(carrier, BUFFER);
    if (buffer <= 0) {
      buffer = buffer == 0 ? attach(carrier) : 0;
      if (buffer == 0) {
        return 0;
      }
    }
    if (U.getInt(buffer) >= U.getInt(buffer + 4)) {
      buffer = swap(U.getLong(buffer + 88));
      if (buffer == 0) {
        return 0;
      }
      U.putLong(carrier, BUFFER, buffer);
    }
    return buffer;
  }
}
