package traced;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/** A task for each node of a binary tree. */
public final class Forks {
  private static final int DEPTH = 15;

  @SuppressWarnings("serial")
  private static final class Node extends RecursiveTask<Integer> {
    private final int depth;

    Node(int depth) {
      this.depth = depth;
    }

    @Override
    protected Integer compute() {
      if (depth == DEPTH) {
        return 1;
      }
      Node left = new Node(depth + 1);
      Node right = new Node(depth + 1);
      left.fork();
      return right.invoke() + left.join();
    }
  }

  public static void main(String[] arguments) {
    System.out.println("leaves " + new ForkJoinPool(2).invoke(new Node(0)));
  }
}
