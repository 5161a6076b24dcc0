package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;

import java.io.FileDescriptor;

/**
 * The probes of sockets: which thread received or sent how many bytes over which connection. A connection's number is
 * kept in its FileDescriptor, of which each life of a descriptor has one of its own.
 */
public final class ContrafactSockets {
  private static final long DESCRIPTOR = U.objectFieldOffset(FileDescriptor.class, "fd");
  // The connection's number plus one; 0: nobody asked yet. Below 0: none is to be recorded, or how it will be made.
  private static final long NUMBER = U.objectFieldOffset(FileDescriptor.class, "contrafactConnection");
  private static final int CONNECTED = -2;

  // Format: ConnectionKind in src/format/event.h.
  private static final int OF_ACCEPTED = 0;
  private static final int OF_CONNECTED = 1;
  private static final int OF_OTHER = 2;

  // A call that took less time got what was there already.
  private static final long WAITED_NS_MIN = 20_000;

  private static final int END = -1;  // sun.nio.ch.IOStatus.EOF; what is below says that nothing was read, either

  private ContrafactSockets() {}

  static void prepare() {
    addConnection(NONE, 0);
  }

  /** The number plus one of a socket's connection; -1: the descriptor is none of a socket. */
  static native int addConnection(int descriptor, int kind);

  /** `status`: 1 if `descriptor` is a connection's now. */
  public static void accepted(int status, FileDescriptor descriptor) {
    if (live && status > 0) {
      add(descriptor, OF_ACCEPTED);
    }
  }

  /** Its ports are known when it is connected: it gets its number with its first bytes. Begins a block. */
  public static long connecting(FileDescriptor descriptor) {
    if (U.getInt(descriptor, NUMBER) == 0) {
      U.putInt(descriptor, NUMBER, CONNECTED);
    }
    return ioBegin();
  }

  public static void connected(Throwable failure, long token) {
    blockEnd(failure, token);
  }

  /** The time before a call: the peer may have what is sent before the call is over, and a call may wait for what it receives. */
  public static long calling() {
    return live ? System.nanoTime() : 0;
  }

  public static void received(int count, FileDescriptor descriptor, long time) {
    received((long) count, descriptor, time);
  }

  public static void received(long count, FileDescriptor descriptor, long time) {
    if (live && (count > 0 || count == END)) {
      Thread thread = Thread.currentThread();
      long began = ContrafactCosts.began();
      long over = System.nanoTime();
      if (time != 0 && over - time >= WAITED_NS_MIN) {
        blocked(thread, IO, time, over);
      }
      int number = numberOf(descriptor);
      if (number >= 0) {
        emitAt(thread, RECEIVE, over, number, count > 0 ? bytes(count) : 0);
        ContrafactCosts.ended(RECEIVE, began);
      }
    }
  }

  public static void sent(int count, FileDescriptor descriptor, long time) {
    sent((long) count, descriptor, time);
  }

  public static void sent(long count, FileDescriptor descriptor, long time) {
    if (live && count > 0 && time != 0) {
      long began = ContrafactCosts.began();
      int number = numberOf(descriptor);
      if (number >= 0) {
        emitAt(Thread.currentThread(), SEND, time, number, bytes(count));
        ContrafactCosts.ended(SEND, began);
      }
    }
  }

  // ---- sockets that are no FileDescriptor's of the JDK: Netty's epoll transport. Its objects keep the numbers.

  // By descriptor: it came from a call that accepts, and nobody has asked for its number since.
  private static final byte[] NEW = new byte[1 << 16];

  public static void accepted(int descriptor) {
    if (live && descriptor >= 0 && descriptor < NEW.length) {
      NEW[descriptor] = 1;
    }
  }

  /** What its number is from then on. */
  public static int connecting(int number) {
    return number == 0 ? CONNECTED : number;
  }

  /** Returns the connection's number as its object is to keep it, and so does `sent`. */
  public static int received(long count, int descriptor, int number) {
    if (!live || (count <= 0 && count != END)) {
      return number;
    }
    int known = knownNumber(descriptor, number);
    if (known > 0) {
      emit(Thread.currentThread(), RECEIVE, known - 1, count > 0 ? bytes(count) : 0);
    }
    return known;
  }

  public static int sent(long count, int descriptor, int number, long time) {
    if (!live || count <= 0 || time == 0) {
      return number;
    }
    int known = knownNumber(descriptor, number);
    if (known > 0) {
      emitAt(Thread.currentThread(), SEND, time, known - 1, bytes(count));
    }
    return known;
  }

  private static int knownNumber(int descriptor, int number) {
    if (number != 0 && number != CONNECTED) {
      return number;
    }
    boolean isNew = descriptor < NEW.length && NEW[descriptor] != 0;
    if (isNew) {
      NEW[descriptor] = 0;
    }
    return addConnection(descriptor, number == CONNECTED ? OF_CONNECTED : isNew ? OF_ACCEPTED : OF_OTHER);
  }

  private static int bytes(long count) {
    return (int) Math.min(count, 0xffffffffL);
  }

  /** Negative: there is nothing to record. */
  private static int numberOf(FileDescriptor descriptor) {
    int number = U.getIntAcquire(descriptor, NUMBER);
    if (number == 0 || number == CONNECTED) {
      number = add(descriptor, number == CONNECTED ? OF_CONNECTED : OF_OTHER);
    }
    return number - 1;
  }

  /** Of two threads that come at once, the row of one stays without use. */
  private static int add(FileDescriptor descriptor, int kind) {
    int before = U.getIntVolatile(descriptor, NUMBER);
    if (before != 0 && before != CONNECTED) {
      return before;
    }
    int added = addConnection(U.getInt(descriptor, DESCRIPTOR), kind);
    return U.compareAndSetInt(descriptor, NUMBER, before, added) ? added : U.getIntAcquire(descriptor, NUMBER);
  }
}
