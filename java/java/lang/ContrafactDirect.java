package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Counts an event at once in counts that all threads share, without a buffer and without a native call: `--processor
 * direct`, to which deferring is compared. The layout is that of src/online/shared_counts.h. Initialised only after the
 * virtual machine is: it uses Unsafe.
 */
final class ContrafactDirect {
  private static final Unsafe U = Unsafe.getUnsafe();

  private static final long CLASSES = classes();
  private static final int METHODS_MAX = 1 << 18;
  private static final long EDGES = 16L * METHODS_MAX;
  private static final int PLACE_BITS = 20;
  private static final long LAST_PLACE = (1L << PLACE_BITS) - 1;
  private static final long HASH_FACTOR = 0x9E3779B97F4A7C15L;
  private static final int PROBES_MAX = 64;

  private ContrafactDirect() {}

  /** Links the native methods. Nulls have no effect. */
  static void prepare() {
    call(0L, 0, 0);
    allocate(0L, 0, 0L);
  }

  // Found by the JVM in the agent; `call` and `allocate` are for events that do not fit.
  private static native long classes();
  private static native void call(long shard, int caller, int callee);
  private static native void allocate(long shard, int method, long bytes);

  @ForceInline
  static void call(int caller, int callee) {
    long shard = ContrafactAnalysisEvents.shard();
    if (shard == 0) {
      return;
    }
    long key = (long) caller << 32 | callee;
    long place = key * HASH_FACTOR >>> 64 - PLACE_BITS;
    for (int i = 0; i < PROBES_MAX; i++) {
      long edge = shard + EDGES + 16 * place;
      long found = U.getLong(edge);
      if (found == key || found == 0 && claim(edge, key)) {
        U.getAndAddLong(null, edge + 8, 1);
        return;
      }
      place = place + 1 & LAST_PLACE;
    }
    call(shard, caller, callee);
  }

  private static boolean claim(long edge, long key) {
    return U.compareAndSetLong(null, edge, 0, key) || U.getLong(edge) == key;
  }

  @ForceInline
  static long bytesOf(int type, int length) {
    long size = CLASSES + 16L * type;
    long align = U.getInt(size + 12);
    return U.getLong(size) + (long) length * U.getInt(size + 8) + align - 1 & -align;
  }

  /** `length` is 0 for what is no array. */
  @ForceInline
  static void allocate(int method, int type, int length) {
    long shard = ContrafactAnalysisEvents.shard();
    if (shard == 0 || type == 0) {
      return;
    }
    long bytes = bytesOf(type, length);
    if (method < METHODS_MAX) {
      long counts = shard + 16L * method;
      U.getAndAddLong(null, counts, 1);
      U.getAndAddLong(null, counts + 8, bytes);
    } else {
      allocate(shard, method, bytes);
    }
  }
}
