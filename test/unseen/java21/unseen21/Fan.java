package unseen21;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/**
 * Requests on virtual threads, each of which asks for a page and its banner on virtual threads of their own, the banner awaited at once; the
 * banner is computed by a pool of one platform thread. Twins: "banner" in place; "2" threads for the banners.
 */
public final class Fan {
  public static void main(String[] arguments) throws Exception {
    boolean inline = arguments.length > 0 && arguments[0].equals("banner");
    int size = arguments.length > 0 && !inline ? Integer.parseInt(arguments[0]) : 1;
    Semaphore open = new Semaphore(10);
    long sum = 0;
    long begun = System.nanoTime();
    try (ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor(); ExecutorService banners = Executors.newFixedThreadPool(size)) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 150; i++) {
        final int request = i;
        open.acquire();
        all.add(requests.submit(() -> {
          try {
            return serve(requests, banners, request, inline);
          } finally {
            open.release();
          }
        }));
      }
      for (Future<Integer> one : all) {
        sum += one.get();
      }
      System.out.printf("result %s us %d%n", sum, (System.nanoTime() - begun) / 1000);
    }
  }

  private static int serve(ExecutorService requests, ExecutorService banners, int request, boolean inline) throws Exception {
    Future<Integer> page = requests.submit(() -> page(request));
    int banner = inline ? draw(request) : drawn(banners, request).get();
    return banner + page.get();
  }

  private static Future<Integer> drawn(ExecutorService banners, int request) {
    return banners.submit(() -> draw(request));
  }

  private static int page(int request) throws InterruptedException {
    Thread.sleep(10 + request % 6);
    return request % 29;
  }

  private static int draw(int request) throws InterruptedException {
    Thread.sleep(4);
    int colour = request;
    for (int i = 0; i < 200_000; i++) {
      colour = colour * 69_069 + 1;
    }
    return colour & 0xFF;
  }
}
