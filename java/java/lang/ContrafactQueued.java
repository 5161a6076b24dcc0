package java.lang;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

import static java.lang.ContrafactEvents.U;

/**
 * The ids of bare Runnables that were given to an executor and have not begun: keyed by identity, oldest first for a
 * Runnable that was given several times. Never calls the program's code, keeps nothing alive, takes no lock.
 *
 * Each bucket is a stack of nodes; nodes are added at its head and only ever skipped elsewhere, so a race may bring a dead
 * node back into the chain but never loses a live one.
 */
final class ContrafactQueued {
  private static final int BUCKETS = 1 << 14;
  private static final int WALK_MAX = 512;  // of one chain: bounds the cost where one Runnable waits thousands of times
  private static final AtomicReferenceArray<Node> HEADS = new AtomicReferenceArray<>(BUCKETS);
  private static final long TASK = U.objectFieldOffset(Node.class, "task");

  private ContrafactQueued() {}

  private static final class Node extends WeakReference<Object> {
    volatile int task;  // 0 once it was taken
    Node next;

    Node(Object runnable, int task) {
      super(runnable);
      this.task = task;
    }
  }

  private static int bucket(Object runnable) {
    int hash = System.identityHashCode(runnable);
    return (hash ^ hash >>> 16) & (BUCKETS - 1);
  }

  static void put(Object runnable, int task) {
    int bucket = bucket(runnable);
    Node node = new Node(runnable, task);
    Node head;
    do {
      head = HEADS.getAcquire(bucket);
      while (head != null && dead(head)) {
        head = head.next;
      }
      node.next = head;
    } while (!publish(bucket, head, node));
  }

  /** Puts `node` in front; dead nodes before `live` are cut off on the way. */
  private static boolean publish(int bucket, Node live, Node node) {
    Node head = HEADS.getAcquire(bucket);
    for (Node n = head; n != live; n = n.next) {
      if (n == null || !dead(n)) {
        return false;
      }
    }
    return HEADS.compareAndSet(bucket, head, node);
  }

  private static boolean dead(Node node) {
    return node.task == 0 || node.refersTo(null);
  }

  /** The oldest id of a Runnable, or 0 if there is none. It is forgotten. */
  static int take(Object runnable) {
    int bucket = bucket(runnable);
    for (;;) {
      Node found = null;
      Node before = null;
      int steps = 0;
      Node head = HEADS.getAcquire(bucket);
      for (Node n = head; n != null && steps < WALK_MAX; n = n.next, steps++) {
        if (dead(n)) {
          if (before != null) {
            before.next = n.next;
          }
          continue;
        }
        if (n.refersTo(runnable)) {
          found = n;
        }
        before = n;
      }
      if (found == null) {
        if (HEADS.getAcquire(bucket) == head) {
          return 0;
        }
        continue;  // a younger start may have taken this one's node and left its own, put since the walk began
      }
      int task = found.task;
      if (task != 0 && U.compareAndSetInt(found, TASK, task, 0)) {
        return task;
      }
    }
  }
}
