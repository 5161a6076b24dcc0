package java.lang;

import static java.lang.ContrafactEvents.U;

/**
 * Taints, sets of them, and the sets of fields and elements (FlowProf, section 5.1): all in memory of the agent's that does not grow
 * (src/agent_jvm/flow.h). A taint is a number, from 1 on in the order in which sections begin. A set is 0, the empty one; the negative
 * of its only taint; or the number of a record, which holds its taints, the youngest first. Of more than TAINTS_MAX it keeps the youngest. Records are used again, in
 * turns: a set whose record is gone is empty. Shadows lie in buckets; the one with the oldest taints makes room for another. All of it is
 * counted. Initialised only after the virtual machine is: it uses Unsafe.
 */
final class ContrafactTaints {
  // Which memory: a contract with src/agent_jvm/flow.h.
  private static final long COUNTS = memory(0);
  private static final long RECORDS = memory(1);
  private static final long UNIONS = memory(2);
  private static final long SHADOWS = memory(3);
  private static final long FIELDS = memory(4);   // by number: that of the declared field, 0 if not asked for yet
  private static final long TAINTED = memory(5);  // bytes by declared number: whether it ever was
  private static final long STANDING = memory(6);
  private static final int RECORD_MASK = (int) memory(7) - 1;
  private static final int BUCKET_MASK = (int) memory(8) - 1;

  // Counts.
  private static final int LAST_TAINT = 0;
  private static final int LAST_RECORD = 4;
  private static final int SHORTENED = 8;
  private static final int EVICTED = 16;
  private static final int NOT_COPIED = 24;

  private static final int TAINTS_MAX = 16;
  private static final int RECORD_BYTES = 72;  // its number, how many, the taints
  private static final int UNION_MASK = (1 << 14) - 1;
  private static final int STANDING_MASK = (1 << 12) - 1;
  private static final int NUMBER_MAX = 1 << 30;
  private static final int WAYS = 4;
  private static final int COPIED_MAX = 4096;

  private static final long ELEMENTS = 1L << 31;
  private static final long EVERY = ELEMENTS | Integer.MAX_VALUE;  // in place of an index
  private static final long ANY = EVERY - 1;  // likewise: not empty if that of an element was ever written

  // Where an object's header has its identity hash, if it has one; 0: not known.
  private static final long HASH_BITS = hashBits();

  static final long READ_OUTSIDE = U.objectFieldOffset(Thread.class, "contrafactRead");  // the set that it read last

  private static boolean arrays;  // an array is tainted
  private static boolean all;     // one whose elements are not told apart

  private ContrafactTaints() {}

  /** Links the native methods. */
  static void prepare() {
    declared(0);
  }

  // Found by the JVM in the agent.
  private static native long memory(int which);
  private static native int declared(int number);

  private static long hashBits() {
    Object object = new Object();
    long hash = System.identityHashCode(object);
    long mark = U.getLong(object, 0L);
    for (int shift = 8; shift <= 32; shift++) {
      if ((mark >>> shift & 0x7fffffffL) == hash) {
        return 0x7fffffffL << shift;
      }
    }
    return 0;
  }

  /** Of what was never asked for its identity, no shadow is kept. */
  private static boolean hasShadows(Object object) {
    long mark = U.getLong(object, 0L);
    return HASH_BITS == 0 || (mark & HASH_BITS) != 0 || (mark & 3) != 1;
  }

  private static void note(int which) {
    U.putLong(COUNTS + which, U.getLong(COUNTS + which) + 1);  // some are lost where threads meet
  }

  // ---- taints and sets

  /** 0: there are no more. */
  static int newTaint() {
    int taint = U.getAndAddInt(null, COUNTS + LAST_TAINT, 1) + 1;
    return taint > 0 && taint < NUMBER_MAX ? taint : 0;
  }

  /** From now on `before`, an earlier part of the same work, counts as `taint`. */
  static void stand(int taint, int before) {
    U.putLong(STANDING + 8L * (before & STANDING_MASK), (long) before << 32 | taint);
  }

  static int standsFor(int taint) {
    long standing = U.getLong(STANDING + 8L * (taint & STANDING_MASK));
    return (int) (standing >>> 32) == taint && taint != 0 ? (int) standing : taint;
  }

  private static long record(int set) {
    return RECORDS + (long) RECORD_BYTES * (set & RECORD_MASK);
  }

  static int count(int set) {
    if (set <= 0) {
      return set == 0 ? 0 : 1;
    }
    long record = record(set);
    return U.getInt(record) == set ? U.getInt(record + 4) : 0;
  }

  static int taint(int set, int i) {
    return set < 0 ? -set : U.getInt(record(set) + 8 + 4L * i);
  }

  static boolean contains(int set, int taint) {
    for (int i = 0, n = count(set); i < n; i++) {
      if (standsFor(taint(set, i)) == taint) {
        return true;
      }
    }
    return false;
  }

  private static int youngest(int set) {
    return count(set) == 0 ? 0 : taint(set, 0);
  }

  private static long mixed(long key) {
    key *= 0x9e3779b97f4a7c15L;
    return (key ^ key >>> 32) * 0xd6e8feb86659fd93L;
  }

  /** Of two sets that are neither empty nor equal. */
  static int union(int a, int b) {
    long key = (long) Math.min(a, b) << 32 | Math.max(a, b) & 0xffffffffL;
    long mixed = mixed(key);
    long entry = UNIONS + 16L * (mixed >>> 50 & UNION_MASK);
    if (U.getLong(entry) == key) {
      long value = U.getLong(entry + 8);
      int known = (int) (value >>> 32);
      if ((int) value == (int) mixed && (known <= 0 || count(known) > 0)) {
        return known;
      }
    }
    int union = merged(a, b);
    U.putLong(entry, key);
    U.putLong(entry + 8, (long) union << 32 | mixed & 0xffffffffL);
    return union;
  }

  private static int merged(int a, int b) {
    int ofA = count(a);
    int ofB = count(b);
    if (ofA == 0 || ofB == 0) {
      return ofA == 0 ? b : a;
    }
    int onlyA = 0;
    int onlyB = 0;
    int n = 0;
    for (int i = 0, j = 0; n < TAINTS_MAX && (i < ofA || j < ofB); n++) {
      int x = i < ofA ? taint(a, i) : 0;
      int y = j < ofB ? taint(b, j) : 0;
      i += x >= y ? 1 : 0;
      j += y >= x ? 1 : 0;
      onlyA += x > y ? 1 : 0;
      onlyB += y > x ? 1 : 0;
    }
    if (onlyB == 0 && n == ofA) {
      return a;
    }
    if (onlyA == 0 && n == ofB) {
      return b;
    }
    int number = U.getAndAddInt(null, COUNTS + LAST_RECORD, 1);
    int set = (number & NUMBER_MAX - 1) + 1;
    long record = record(set);
    U.putInt(record, 0);
    U.storeFence();
    int i = 0;
    int j = 0;
    for (int k = 0; k < n; k++) {
      int x = i < ofA ? taint(a, i) : 0;
      int y = j < ofB ? taint(b, j) : 0;
      i += x >= y ? 1 : 0;
      j += y >= x ? 1 : 0;
      U.putInt(record + 8 + 4L * k, Math.max(x, y));
    }
    if (i < ofA || j < ofB) {
      note(SHORTENED);
    }
    U.putInt(record + 4, n);
    U.putIntRelease(null, record, set);
    return set;
  }

  // ---- shadows: words of a tag and a set

  private static long bucket(long mixed) {
    return SHADOWS + 8L * WAYS * (mixed >>> 34 & BUCKET_MASK);
  }

  private static int tag(long mixed) {
    return (int) mixed | 1;
  }

  private static int shadow(long place) {
    long mixed = mixed(place);
    long bucket = bucket(mixed);
    int tag = tag(mixed);
    for (int i = 0; i < WAYS; i++) {
      long word = U.getLong(bucket + 8L * i);
      if ((int) (word >>> 32) == tag) {
        return (int) word;
      }
    }
    return 0;
  }

  private static void setShadow(long place, int set) {
    long mixed = mixed(place);
    long bucket = bucket(mixed);
    int tag = tag(mixed);
    long free = 0;
    long oldest = 0;
    int age = Integer.MAX_VALUE;
    for (int i = 0; i < WAYS; i++) {
      long at = bucket + 8L * i;
      long word = U.getLong(at);
      if ((int) (word >>> 32) == tag) {
        U.putLong(at, set == 0 ? 0 : (long) tag << 32 | set & 0xffffffffL);
        return;
      }
      if (word == 0) {
        free = at;
      } else if (set != 0 && free == 0) {
        int youngest = youngest((int) word);
        if (youngest < age) {
          age = youngest;
          oldest = at;
        }
      }
    }
    if (set == 0) {
      return;
    }
    if (free == 0) {
      free = oldest;
      if (age != 0) {
        note(EVICTED);
      }
    }
    U.putLong(free, (long) tag << 32 | set & 0xffffffffL);
  }

  private static long base(Object object) {
    return (long) System.identityHashCode(object) << 32;
  }

  private static int declaredField(int number) {
    int declared = U.getInt(FIELDS + 4L * number);
    if (declared == 0) {
      declared = declared(number);
      U.putInt(FIELDS + 4L * number, declared);
    }
    return declared;
  }

  private static boolean isTainted(int declared) {
    return U.getByte(TAINTED + declared) != 0;
  }

  private static void noteTainted(int declared) {
    if (!isTainted(declared)) {
      U.putByte(TAINTED + declared, (byte) 1);
      ContrafactOutside.observers = 1;
    }
  }

  static int shadowOf(Object object, int number) {
    int declared = declaredField(number);
    return isTainted(declared) && hasShadows(object) ? shadow(base(object) + 8L * declared) : 0;
  }

  static int shadowOfStatic(int number) {
    int declared = declaredField(number);
    return isTainted(declared) ? shadow(8L * declared) : 0;
  }

  static void setShadow(Object object, int number, int set) {
    int declared = declaredField(number);
    if (set != 0) {
      noteTainted(declared);
    } else if (!isTainted(declared) || !hasShadows(object)) {
      return;
    }
    setShadow(base(object) + 8L * declared, set);
  }

  static void setShadowOfStatic(int number, int set) {
    int declared = declaredField(number);
    if (set != 0) {
      noteTainted(declared);
    } else if (!isTainted(declared)) {
      return;
    }
    setShadow(8L * declared, set);
  }

  static int shadowOfElement(Object array, int index) {
    if (!arrays || index < 0 || !hasShadows(array)) {
      return 0;
    }
    long base = base(array);
    int set = shadow(base + ELEMENTS + index);
    return all ? ContrafactFlow.joined(set, shadow(base + EVERY)) : set;
  }

  static void setShadowOfElement(Object array, int index, int set) {
    if (index < 0) {
      return;
    }
    if (set != 0) {
      noteArray();
    } else if (!arrays || !hasShadows(array)) {
      return;
    }
    long base = base(array);
    setShadow(base + ELEMENTS + index, set);
    if (set != 0 && shadow(base + ANY) == 0) {
      setShadow(base + ANY, set);
    }
  }

  private static boolean hasElements(Object array) {
    return hasShadows(array) && shadow(base(array) + ANY) != 0;
  }

  private static void noteArray() {
    if (!arrays) {
      arrays = true;
      ContrafactOutside.observers = 1;
    }
  }

  static int lengthOf(Object array) {
    return array instanceof Object[] ? ((Object[]) array).length : java.lang.reflect.Array.getLength(array);
  }

  /** Of some elements, at most COPIED_MAX of them, all taints. */
  static int shadowOfAll(Object array) {
    if (!arrays || !hasShadows(array)) {
      return 0;
    }
    long base = base(array);
    int set = shadow(base + EVERY);
    if (shadow(base + ANY) == 0) {
      return set;
    }
    int length = lengthOf(array);
    if (length > COPIED_MAX) {
      note(NOT_COPIED);
      length = COPIED_MAX;
    }
    for (int i = 0; i < length; i++) {
      set = ContrafactFlow.joined(set, shadow(base + ELEMENTS + i));
    }
    return set;
  }

  static void addToAll(Object array, int set) {
    noteArray();
    all = true;
    long place = base(array) + EVERY;
    setShadow(place, ContrafactFlow.joined(shadow(place), set));
  }

  static void copyShadows(Object from, int at, Object to, int begin, int count) {
    if (!arrays || at < 0 || begin < 0 || count <= 0) {
      return;
    }
    boolean has = hasElements(from) || all && shadowOfElement(from, at) != 0;
    if (!has && !hasElements(to)) {
      return;
    }
    if (count > COPIED_MAX) {
      int set = has ? shadowOfAll(from) : 0;
      if (set != 0) {
        addToAll(to, set);
      }
      return;
    }
    boolean backwards = from == to && at < begin;
    for (int k = 0; k < count; k++) {
      int i = backwards ? count - 1 - k : k;
      setShadowOfElement(to, begin + i, has ? shadowOfElement(from, at + i) : 0);
    }
  }
}
