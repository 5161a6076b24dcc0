package unseen;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Chains of {@code CompletableFuture} over three executors: fetched on one, hashed on another, filed on a single thread. Twins: more
 * threads that fetch, filed in place.
 */
public final class Digests {
  public static void main(String[] arguments) {
    ExecutorService fetchers = Executors.newFixedThreadPool(Stopwatch.size(arguments, 4));
    ExecutorService hashers = Executors.newFixedThreadPool(2);
    ExecutorService archive = Executors.newSingleThreadExecutor();
    boolean filedInPlace = Stopwatch.isTwin(arguments, "inline");
    Stopwatch watch = new Stopwatch();
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    for (int document = 0; document < 240; document++) {
      all.add(filed(hashed(document, fetchers, hashers), archive, filedInPlace));
    }
    CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).join();
    watch.print(all.stream().mapToInt(CompletableFuture::join).sum());
    List.of(fetchers, hashers, archive).forEach(ExecutorService::shutdown);
  }

  private static CompletableFuture<byte[]> hashed(int document, ExecutorService fetchers, ExecutorService hashers) {
    return CompletableFuture.supplyAsync(() -> fetched(document), fetchers).thenApplyAsync(Digests::digest, hashers);
  }

  private static CompletableFuture<Integer> filed(CompletableFuture<byte[]> hash, ExecutorService archive, boolean inPlace) {
    return inPlace ? hash.thenApply(Digests::file) : hash.thenApplyAsync(Digests::file, archive);
  }

  private static String fetched(int document) {
    slept(6 + document % 5);
    return "document " + document + " ".repeat(2000 + document);
  }

  private static byte[] digest(String text) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      byte[] hash = text.getBytes(StandardCharsets.UTF_8);
      for (int i = 0; i < 12; i++) {
        sha.update(text.getBytes(StandardCharsets.UTF_8));
        hash = sha.digest(hash);
      }
      return hash;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int file(byte[] hash) {
    slept(2);
    return hash[0] & 0xFF;
  }

  private static void slept(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
