package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A walk through a tree of folders that are slow to list: each sub-folder is asked for on a cached pool, then all are waited for. Twin
 * "last": a folder's last sub-folder is walked by the thread that listed the folder, after the others have been handed out.
 */
public final class Directory {
  private static boolean lastInPlace;

  public static void main(String[] arguments) {
    lastInPlace = Stopwatch.isTwin(arguments, "last");
    ExecutorService pool = Executors.newCachedThreadPool();
    Stopwatch watch = new Stopwatch();
    long size = 0;
    for (int disk = 0; disk < 24; disk++) {
      size += walk(pool, disk + 1, 0);
    }
    watch.print(size);
    pool.shutdown();
  }

  private static long walk(Executor pool, int folder, int depth) {
    long size = list(folder);
    int children = depth < 4 ? 2 + (folder + depth) % 2 : 0;
    List<CompletableFuture<Long>> others = new ArrayList<>();
    for (int i = 0; i + 1 < children; i++) {
      others.add(walkElsewhere(pool, folder * 3 + i, depth + 1));
    }
    if (children > 0) {
      size += lastInPlace ? walk(pool, folder * 3 + children, depth + 1) : walkLast(pool, folder * 3 + children, depth + 1);
    }
    for (CompletableFuture<Long> other : others) {
      size += other.join();
    }
    return size;
  }

  private static CompletableFuture<Long> walkElsewhere(Executor pool, int folder, int depth) {
    return CompletableFuture.supplyAsync(() -> walk(pool, folder, depth), pool);
  }

  private static long walkLast(Executor pool, int folder, int depth) {
    return CompletableFuture.supplyAsync(() -> walk(pool, folder, depth), pool).join();
  }

  private static long list(int folder) {
    try {
      Thread.sleep(4 + folder % 5);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    long size = 0;
    for (int file = 0; file < 2000; file++) {
      size += Integer.toString(file * folder).hashCode() & 0xFFF;
    }
    return size;
  }
}
