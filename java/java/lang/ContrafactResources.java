package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;

/**
 * The probes of pools of connections and other objects, of which there are only so many: each that is out is a permit of
 * the pool's. Its number is kept in a field that the agent adds to the pool.
 */
public final class ContrafactResources {
  private static final int IN_USE = 1;  // com.zaxxer.hikari.util.ConcurrentBag.IConcurrentBagEntry.STATE_IN_USE
  // How many of a pool are out, by its number. A return without a taking gives nothing: what was abandoned may come back.
  private static final int POOLS_MAX = 1 << 16;
  private static final long OUT = counts(4 * POOLS_MAX);

  private ContrafactResources() {}

  static void prepare() {
    addResource(null);
  }

  /** The number plus one of a pool, which it keeps; -1: its size is not known, or has no bound. */
  static native int addResource(Object pool);

  /** The address of so many zero bytes. */
  private static native long counts(int bytes);

  /** `object` has left the pool; null: none was free in time. */
  public static void taken(Object object, Object pool) {
    if (object != null) {
      taken(pool);
    }
  }

  public static void taken(Object pool) {
    int number = live ? numberOf(pool) : NONE;
    if (number >= 0) {
      U.getAndAddInt(null, place(number), 1);
      emit(Thread.currentThread(), PERMIT_TAKE, number, 1);
    }
  }

  /** One comes back, or will never: whoever waits may have it, or another in its place. */
  public static void given(Object pool) {
    int number = live ? numberOf(pool) : NONE;
    if (number >= 0 && takeBack(number)) {
      emit(Thread.currentThread(), PERMIT_GIVE, number, 1);
    }
  }

  /** An entry of a ConcurrentBag leaves it for ever, by whoever has it or while nobody does. */
  public static void removed(int state, Object pool) {
    if (state == IN_USE) {
      given(pool);
    }
  }

  private static boolean takeBack(int number) {
    for (;;) {
      int out = U.getIntVolatile(null, place(number));
      if (out <= 0) {
        return false;
      }
      if (U.compareAndSetInt(null, place(number), out, out - 1)) {
        return true;
      }
    }
  }

  private static long place(int number) {
    return OUT + 4L * number;
  }

  private static int numberOf(Object pool) {
    if (pool == null) {
      return NONE;
    }
    long field = ContrafactTasks.poolField(pool.getClass());
    if (field < 0) {
      return NONE;
    }
    int number = U.getIntAcquire(pool, field);
    number = (number != 0 ? number : addResource(pool)) - 1;
    return OUT != 0 && number < POOLS_MAX ? number : NONE;
  }
}
