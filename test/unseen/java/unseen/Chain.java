package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Messages are decoded, checked and stored by stages of CompletableFuture, each on a cached pool, ten messages at a time; decoding and
 * checking take microseconds. Twin "inline": the message is checked in the stage that decoded it.
 */
public final class Chain {
  public static void main(String[] arguments) {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService pool = Executors.newCachedThreadPool();
    Stopwatch watch = new Stopwatch();
    long sum = 0;
    for (int batch = 0; batch < 150; batch++) {
      List<CompletableFuture<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        final int number = batch * 10 + i;
        CompletableFuture<Integer> decoded = CompletableFuture.supplyAsync(() -> decode(number), pool);
        CompletableFuture<Integer> checked = inline ? decoded.thenApply(Chain::check) : checked(decoded, pool);
        all.add(checked.thenApplyAsync(Chain::store, pool));
      }
      for (CompletableFuture<Integer> one : all) {
        sum += one.join();
      }
    }
    watch.print(sum);
    pool.shutdown();
  }

  private static CompletableFuture<Integer> checked(CompletableFuture<Integer> decoded, ExecutorService pool) {
    return decoded.thenApplyAsync(Chain::check, pool);
  }

  private static int decode(int number) {
    int hash = 7;
    for (char letter : ("message " + number).repeat(40).toCharArray()) {
      hash = hash * 31 + letter;
    }
    return hash & 0xFFFF;
  }

  private static int check(int message) {
    int sum = message;
    for (int i = 0; i < 3_000; i++) {
      sum = sum * 17 + i;
    }
    return sum & 0xFFFF;
  }

  private static int store(int message) {
    try {
      Thread.sleep(4 + message % 3);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return message % 100;
  }
}
