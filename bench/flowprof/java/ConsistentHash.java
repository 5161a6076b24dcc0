import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Keys that are given to the nodes of a ring, and counts of each node in a map under one lock, as in ConsistentHash: nodes are few, so
 * that now and then two threads count for the same one. Twin: a lock for each node (the paper's fix).
 */
final class ConsistentHash {
  private static final int NODES = 4;
  private static final int POINTS = 64;
  private static final int BUCKETS = 64;

  static final class Counts {
    private final boolean lockOfNode;
    private final Map<String, long[]> counts = new HashMap<>();
    private final Map<String, Object> locks = new HashMap<>();

    Counts(boolean lockOfNode) {
      this.lockOfNode = lockOfNode;
      for (int node = 0; node < NODES; node++) {
        counts.put("node-" + node, new long[BUCKETS]);
        locks.put("node-" + node, new Object());
      }
    }

    /** Counts the hash in its node's bucket, and returns how evenly the node's buckets are filled, in thousandths. */
    long add(String node, int hash) {
      synchronized (lockOfNode ? locks.get(node) : this) {
        long[] buckets = counts.get(node);
        buckets[hash & BUCKETS - 1]++;
        double evenness = 0;
        for (long one : buckets) evenness -= one * Math.log(one + 1);
        return Math.round(1000 * evenness);
      }
    }

    long total() {
      long sum = 0;
      for (long[] buckets : counts.values()) {
        for (int i = 0; i < BUCKETS; i++) sum += buckets[i] * (i + 1);
      }
      return sum;
    }
  }

  private static int hash(long key) {
    int hash = 0x811c9dc5;
    for (int round = 0; round < 24; round++) {
      for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ (int) (key >>> shift & 0xff)) * 0x01000193;
    }
    return hash ^ hash >>> 15;
  }

  public static void main(String[] arguments) throws Exception {
    TreeMap<Integer, String> ring = new TreeMap<>();
    for (int node = 0; node < NODES; node++) {
      for (int point = 0; point < POINTS; point++) ring.put(hash(((long) node << 32) + point), "node-" + node);
    }
    Counts counts = new Counts(Crew.isTwin(arguments));
    int count = Crew.count(arguments) / Crew.THREADS;
    long most = Crew.run(number -> {
      long seen = Long.MIN_VALUE;
      for (int i = 0; i < count; i++) {
        int hash = hash(((long) number << 40) + i);
        Map.Entry<Integer, String> point = ring.ceilingEntry(hash);
        seen = Math.max(seen, counts.add((point == null ? ring.firstEntry() : point).getValue(), hash));
      }
      return seen > Long.MIN_VALUE ? 1 : 0;
    });
    System.out.println(most + " " + counts.total());
  }
}
