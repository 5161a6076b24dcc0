import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * Counts a tree of uneven branches, which a hash makes up while it is walked. A task for each node hands those of its children to
 * invokeAll. The setting is down to which depth there are tasks; the tree is the same.
 */
public final class TreeCount {
  private static final int ROUNDS = 16;
  private static final int DEPTH = 12;
  private static final int ROOT_CHILDREN = 24;
  private static final int STEPS = 50;

  @SuppressWarnings("serial")
  private static final class Node extends RecursiveTask<Long> {
    private final long hash;
    private final int depth, depthOfTasks;

    Node(long hash, int depth, int depthOfTasks) {
      this.hash = hash;
      this.depth = depth;
      this.depthOfTasks = depthOfTasks;
    }

    @Override
    protected Long compute() {
      if (depth == depthOfTasks) {
        return count(hash, depth);
      }
      long value = Work.spin(hash, STEPS);
      List<Node> children = new ArrayList<>();
      for (int child = 0; child < childrenOf(value, depth); child++) {
        children.add(new Node(value * 31 + child, depth + 1, depthOfTasks));
      }
      invokeAll(children);
      long sum = 1 + value % 3;
      for (Node child : children) {
        sum += child.join();
      }
      return sum;
    }
  }

  private static long count(long hash, int depth) {
    long value = Work.spin(hash, STEPS);
    long sum = 1 + value % 3;
    for (int child = 0; child < childrenOf(value, depth); child++) {
      sum += count(value * 31 + child, depth + 1);
    }
    return sum;
  }

  private static int childrenOf(long value, int depth) {
    return depth == 0 ? ROOT_CHILDREN : depth == DEPTH ? 0 : (int) (value % 5);
  }

  public static void main(String[] args) {
    int depth = Work.level(args, DEPTH);
    ForkJoinPool pool = new ForkJoinPool(2);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      sum += pool.invoke(new Node(round, 0, depth));
    }
    pool.shutdown();
    Work.print(sum);
  }
}
