package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Each of five downloads asks three mirrors at once by {@code invokeAny}, and goes on with the first answer; the others are interrupted. Then
 * a check is asked of a single thread, and awaited at once. Twins: the check called instead; a thread more for the checks.
 */
public final class Mirrors {
  public static void main(String[] arguments) throws Exception {
    boolean inline = Stopwatch.isTwin(arguments, "inline");
    ExecutorService downloads = Executors.newFixedThreadPool(5);
    ExecutorService mirrors = Executors.newCachedThreadPool();
    ExecutorService checks = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    Stopwatch watch = new Stopwatch();
    List<Future<Integer>> files = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      int file = i;
      files.add(downloads.submit(() -> {
        int content = fastest(mirrors, file);
        return inline ? checked(content) : handedOut(checks, content).get();
      }));
    }
    long sum = 0;
    for (Future<Integer> file : files) {
      sum += file.get();
    }
    watch.print(sum);
    downloads.shutdown();
    mirrors.shutdown();
    checks.shutdown();
  }

  private static int fastest(ExecutorService mirrors, int file) throws Exception {
    List<Callable<Integer>> asked = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int mirror = i;
      asked.add(() -> ask(mirror, file));
    }
    return mirrors.invokeAny(asked);
  }

  private static int ask(int mirror, int file) throws InterruptedException {
    Thread.sleep(5 + (mirror + file) % 3 * 9 + file % 4);
    return file * 101;
  }

  private static Future<Integer> handedOut(ExecutorService checks, int content) {
    return checks.submit(() -> checked(content));
  }

  private static int checked(int content) throws InterruptedException {
    Thread.sleep(6);
    int sum = content;
    for (int i = 0; i < 80_000; i++) {
      sum = sum * 33 + i;
    }
    return sum & 0xFFF;
  }
}
