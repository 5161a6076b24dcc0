package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;

import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/** The probes of Semaphore: which thread takes and gives how many permits. */
public final class ContrafactSemaphores {
  private static final long NUMBER = U.objectFieldOffset(Semaphore.class, "contrafactPool");
  private static final long SYNC = U.objectFieldOffset(Semaphore.class, "sync");
  private static final long PERMITS = U.objectFieldOffset(AbstractQueuedSynchronizer.class, "state");

  private ContrafactSemaphores() {}

  /** A semaphore is about to be asked for permits, or to get some: its first number of permits is still known now. */
  public static void asking(Semaphore semaphore) {
    if (live) {
      numberOf(semaphore);
    }
  }

  public static void taken(int count, Semaphore semaphore) {
    tell(PERMIT_TAKE, semaphore, count);
  }

  /** Of a try: `got` says whether it took them. */
  public static void tried(boolean got, int count, Semaphore semaphore) {
    if (got) {
      taken(count, semaphore);
    }
  }

  public static void given(Semaphore semaphore, int count) {
    tell(PERMIT_GIVE, semaphore, count);
  }

  private static void tell(int kind, Semaphore semaphore, int count) {
    if (!live || count <= 0) {
      return;
    }
    int number = numberOf(semaphore);
    if (number >= 0) {
      emit(Thread.currentThread(), kind, number, count);
    }
  }

  /** Negative if there are too many semaphores. */
  private static int numberOf(Semaphore semaphore) {
    int number = U.getIntAcquire(semaphore, NUMBER);
    return (number != 0 ? number : add(semaphore)) - 1;
  }

  /** Of two threads that come at once, the row of one stays without use. No method is called that the program may have overridden. */
  private static int add(Semaphore semaphore) {
    int added = addPermits(U.getIntVolatile(U.getReference(semaphore, SYNC), PERMITS));
    return U.compareAndSetInt(semaphore, NUMBER, 0, added) ? added : U.getIntAcquire(semaphore, NUMBER);
  }
}
