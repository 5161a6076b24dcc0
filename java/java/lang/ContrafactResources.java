package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The probes of pools of connections and other objects, of which there are only so many: each that is out is a permit of
 * the pool's. Its number is kept in a field that the agent adds to the pool. A pool that has so many for each key (a
 * client's connections, for each route) is one for each.
 */
public final class ContrafactResources {
  private static final int IN_USE = 1;  // com.zaxxer.hikari.util.ConcurrentBag.IConcurrentBagEntry.STATE_IN_USE
  // How many of a pool are out, by its number. A return without a taking gives nothing: what was abandoned may come back.
  private static final int POOLS_MAX = 1 << 16;
  private static final long OUT = counts(4 * POOLS_MAX);
  // The pool inside of whose code a thread is.
  private static final long DEALING = U.objectFieldOffset(Thread.class, "contrafactDealing");

  private static final int KEYS_MAX = 1000;  // of one pool

  private ContrafactResources() {}

  static void prepare() {
    addResource(null);
    addKey(null, null);
  }

  /** The number plus one of a pool, which it keeps; -1: its size is not known, or has no bound. */
  static native int addResource(Object pool);

  /** The same of the part of a pool that a key has. */
  private static native int addKey(Object pool, Object key);

  /** The address of so many zero bytes. */
  private static native long counts(int bytes);

  /** `object` has left the pool; null: none was free in time. */
  public static void taken(Object object, Object pool) {
    if (object != null) {
      taken(pool);
    }
  }

  public static void taken(Object pool) {
    take(live ? numberOf(pool) : NONE);
  }

  /** What was to come from the pool is not good enough, and has left it for ever. */
  public static void refused(boolean good, Object pool) {
    if (!good) {
      given(pool);
    }
  }

  /** As taken, of a key's part. */
  public static void takenOf(Object object, Object pool, Object key) {
    if (object != null) {
      takenOf(pool, key);
    }
  }

  public static void takenOf(Object pool, Object key) {
    take(live ? numberOf(pool, key) : NONE);
  }

  public static void givenOf(Object pool, Object key) {
    give(live ? numberOf(pool, key) : NONE);
  }

  private static void take(int number) {
    if (number >= 0) {
      U.getAndAddInt(null, place(number), 1);
      emit(Thread.currentThread(), PERMIT_TAKE, number, 1);
    }
  }

  private static void give(int number) {
    if (number >= 0 && takeBack(number)) {
      emit(Thread.currentThread(), PERMIT_GIVE, number, 1);
    }
  }

  /**
   * A method of the pool's that takes begins. `dealing` takes what it returns: inside of which pool's code the thread was. A
   * taking or giving inside of another one of the same pool is part of that, and says nothing.
   */
  public static Object dealing(Object pool) {
    Thread thread = Thread.currentThread();
    Object outer = U.getReference(thread, DEALING);
    U.putReference(thread, DEALING, pool);
    return outer;
  }

  /** The same of a method that gives back. */
  public static Object giving(Object pool) {
    Object outer = dealing(pool);
    if (outer != pool) {
      given(pool);
    }
    return outer;
  }

  /** The method ends. */
  public static void dealt(Object outer) {
    U.putReference(Thread.currentThread(), DEALING, outer);
  }

  public static void dealt(Object object, Object pool, Object outer) {
    dealt(outer);
    if (outer != pool) {
      taken(object, pool);
    }
  }

  public static void dealt(boolean taken, Object pool, Object outer) {
    dealt(outer);
    if (taken && outer != pool) {
      taken(pool);
    }
  }

  /** One comes back, or will never: whoever waits may have it, or another in its place. */
  public static void given(Object pool) {
    give(live ? numberOf(pool) : NONE);
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
    return known(number != 0 ? number : addResource(pool));
  }

  private static int known(int numberAndOne) {
    return OUT != 0 && numberAndOne <= POOLS_MAX ? numberAndOne - 1 : NONE;
  }

  /** What the key's own methods throw is dropped; the pool calls them, too. */
  private static int numberOf(Object pool, Object key) {
    long field = pool == null || key == null ? NONE : ContrafactTasks.keysField(pool.getClass());
    if (field < 0) {
      return NONE;
    }
    try {
      ConcurrentHashMap<Object, Integer> numbers = numbersOf(pool, field);
      Integer number = numbers.get(key);
      if (number == null) {
        if (numbers.mappingCount() >= KEYS_MAX) {
          return NONE;
        }
        number = addKey(pool, key);
        Integer other = numbers.putIfAbsent(key, number);
        number = other != null ? other : number;
      }
      return known(number);
    } catch (RuntimeException failure) {
      return NONE;
    }
  }

  @SuppressWarnings("unchecked")
  private static ConcurrentHashMap<Object, Integer> numbersOf(Object pool, long field) {
    Object numbers = U.getReferenceAcquire(pool, field);
    if (numbers == null) {
      Object made = new ConcurrentHashMap<Object, Integer>();
      numbers = U.compareAndSetReference(pool, field, null, made) ? made : U.getReferenceAcquire(pool, field);
    }
    return (ConcurrentHashMap<Object, Integer>) numbers;
  }
}
