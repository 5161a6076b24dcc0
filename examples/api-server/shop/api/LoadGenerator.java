package shop.api;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/**
 * A bounded load: a fixed number of clients which together send a fixed series of requests, each client its next as
 * soon as it has the answer to its last. Request {@code i} depends on {@code i} alone, and so does its right answer.
 */
final class LoadGenerator {
  private record Case(String path, String answer, int reserves) {}

  private static final long SEED = 20210713;
  private final String base;
  private final AtomicLong checksum = new AtomicLong();
  private final AtomicLong reserved = new AtomicLong();
  private final AtomicInteger wrong = new AtomicInteger();
  private long[] latenciesNs = {};
  private long wallNs;

  LoadGenerator(int port) {
    base = "http://127.0.0.1:" + port;
  }

  void run(int requests, int clients) throws InterruptedException {
    System.setProperty("http.maxConnections", Integer.toString(clients));
    latenciesNs = new long[requests];
    AtomicInteger next = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    long startNs = System.nanoTime();
    for (int c = 0; c < clients; c++) {
      Thread thread = new Thread(() -> {
        for (int i = next.getAndIncrement(); i < requests; i = next.getAndIncrement()) {
          sendOne(i);
        }
      }, "client-" + c);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    wallNs = System.nanoTime() - startNs;
    Arrays.sort(latenciesNs);
  }

  private void sendOne(int i) {
    Case request = caseOf(i);
    long startNs = System.nanoTime();
    String answer = send(request);
    latenciesNs[i] = System.nanoTime() - startNs;
    CRC32 crc = new CRC32();
    crc.update((i + " " + answer).getBytes(StandardCharsets.UTF_8));
    checksum.addAndGet(crc.getValue());
  }

  private String send(Case request) {
    String answer;
    try {
      HttpURLConnection connection = (HttpURLConnection) URI.create(base + request.path()).toURL().openConnection();
      connection.setReadTimeout(60_000);
      try (InputStream in = connection.getInputStream()) {
        answer = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    } catch (IOException e) {
      answer = e.toString();
    }
    reserved.addAndGet(request.reserves());
    if (!answer.equals(request.answer()) && wrong.incrementAndGet() <= 3) {
      System.err.println(request.path() + " answered " + answer + " instead of " + request.answer());
    }
    return answer;
  }

  private static Case caseOf(int i) {
    SplittableRandom random = new SplittableRandom(SEED + i);
    int kind = random.nextInt(100);
    String path = kind < 30 ? "/profile" : kind < 55 ? "/feed" : kind < 75 ? "/search" : kind < 85 ? "/checkout"
        : "/recommendations";
    // The smaller of two draws: some words are asked for more often than others, as in any shop.
    int word = Math.min(random.nextInt(Dataset.WORDS), random.nextInt(Dataset.WORDS));
    return caseOf(path, random.nextInt(Dataset.USERS), word);
  }

  private static Case caseOf(String path, int user, int number) {
    switch (path) {
      case "/profile":
        return new Case(path + "?user=" + user, "{\"name\":\"" + Dataset.userName(user) + "\",\"age\":"
            + Dataset.age(user) + ",\"avatar\":\"" + Remote.avatarUrl(user) + "\"}", 0);
      case "/feed":
        return new Case(path + "?user=" + user, feed(user), 0);
      case "/search":
        return new Case(path + "?word=" + Dataset.word(number), searchResult(number), 0);
      case "/checkout":
        int cents = 2 * Dataset.priceCents(number);
        return new Case(path + "?user=" + user + "&product=" + number + "&quantity=2", "{\"reserved\":true,"
            + "\"authorisation\":\"" + Remote.authorisation(user, cents) + "\",\"cents\":" + cents + "}", 2);
      default:
        int similar = Remote.similar(new int[] {Dataset.purchase(user, 0), Dataset.purchase(user, 1)});
        return new Case(path + "?user=" + user, "{\"recommended\":\"" + Dataset.productName(similar) + "\"}", 0);
    }
  }

  private static String feed(int user) {
    StringBuilder text = new StringBuilder("{\"posts\":[");
    for (int k = 0; k < Dataset.FRIENDS; k++) {
      text.append(k == 0 ? "\"" : ",\"").append(Dataset.post(Dataset.friend(user, k))).append('"');
    }
    String advertised = Dataset.productName(Remote.advertisement(user));
    return text.append("],\"advertisement\":\"").append(advertised).append("\"}").toString();
  }

  private static String searchResult(int word) {
    StringBuilder text = new StringBuilder("[");
    for (int k = 0; k < SearchApi.RESULTS; k++) {
      int product = word + k * Dataset.WORDS;
      int cents = Dataset.priceCents(product) + Dataset.priceCents(product) * Remote.surcharge(product) / 100;
      text.append(k == 0 ? "" : ",").append("{\"product\":\"").append(Dataset.productName(product));
      text.append("\",\"cents\":").append(cents).append('}');
    }
    return text.append(']').toString();
  }

  int wrong() {
    return wrong.get();
  }

  /** Goods that the shop must have reserved for the requests sent so far. */
  long reserved() {
    return reserved.get();
  }

  String checksum() {
    return Long.toHexString(checksum.get());
  }

  double wallSeconds() {
    return wallNs / 1e9;
  }

  double latencyMs(double fraction) {
    return latenciesNs[(int) Math.min(latenciesNs.length - 1, latenciesNs.length * fraction)] / 1e6;
  }
}
