package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * As ContrafactDirect, for the calling-context tree: counts an event at once in the nodes that all threads share. The layout
 * is that of src/online/shared_contexts.h.
 */
final class ContrafactDirectContexts {
  private static final Unsafe U = Unsafe.getUnsafe();

  private static final long LAST_PLACE = (1L << 21) - 1;
  private static final int PROBES_MAX = 64;
  private static final long NODE_BYTES = 48;
  private static final long PARENT = 8;
  private static final long METHOD = 16;
  private static final long CALLS = 24;
  private static final long OBJECTS = 32;
  private static final long BYTES = 40;

  private ContrafactDirectContexts() {}

  /** Links the native methods. Nulls have no effect. */
  static void prepare() {
    call(0L, 0L, 0L, 0);
    allocate(0L, 0L, 0L);
  }

  // Found by the JVM in the agent, for events that do not fit.
  private static native void call(long shard, long parent, long context, int method);
  private static native void allocate(long shard, long context, long bytes);

  /** The context's node; 0: there is no room near its place. */
  @ForceInline
  private static long nodeOf(long shard, long context) {
    long place = context >>> 1 & LAST_PLACE;
    for (int i = 0; i < PROBES_MAX; i++) {
      long node = shard + NODE_BYTES * place;
      long found = U.getLong(node);
      if (found == context || found == 0 && claim(node, context)) {
        return node;
      }
      place = place + 1 & LAST_PLACE;
    }
    return 0;
  }

  private static boolean claim(long node, long context) {
    return U.compareAndSetLong(null, node, 0, context) || U.getLong(node) == context;
  }

  @ForceInline
  static void call(long parent, long context, int method) {
    long shard = ContrafactAnalysisEvents.shard();
    if (shard == 0) {
      return;
    }
    long node = nodeOf(shard, context);
    if (node == 0) {
      call(shard, parent, context, method);
      return;
    }
    if (U.getLong(node + PARENT) == 0) {
      U.putLong(node + METHOD, method);
      U.putLong(node + PARENT, parent);
    }
    U.getAndAddLong(null, node + CALLS, 1);
  }

  /** `length` is 0 for what is no array. */
  @ForceInline
  static void allocate(long context, int type, int length) {
    long shard = ContrafactAnalysisEvents.shard();
    if (shard == 0 || type == 0) {
      return;
    }
    long bytes = ContrafactDirect.bytesOf(type, length);
    long node = nodeOf(shard, context);
    if (node == 0) {
      allocate(shard, context, bytes);
      return;
    }
    U.getAndAddLong(null, node + OBJECTS, 1);
    U.getAndAddLong(null, node + BYTES, bytes);
  }
}
