package truth;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** How requests reach the truth programs: from clients that wait for each answer, or at given times come what may. */
public final class Load {
  /** Serves request {@code number}; the same number always gives the same result. */
  public interface Handler {
    long serve(int number) throws Exception;
  }

  private Load() {}

  /** Each client, a thread, serves its requests itself, one after the other, with pauses of 0 to 4 ms. */
  public static long closed(int clients, int requestsPerClient, Handler handler) throws InterruptedException {
    long[] sums = new long[clients];
    List<Thread> threads = new ArrayList<>();
    for (int client = 0; client < clients; client++) {
      int id = client;
      Thread thread = new Thread(() -> sums[id] = client(id, requestsPerClient, handler), "client-" + id);
      thread.start();
      threads.add(thread);
      Work.waitMs(5);
    }
    long sum = 0;
    for (int client = 0; client < clients; client++) {
      threads.get(client).join();
      sum += sums[client];
    }
    return sum;
  }

  private static long client(int id, int requests, Handler handler) {
    long sum = 0;
    for (int i = 0; i < requests; i++) {
      try {
        sum += handler.serve(id * 1000 + i);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      int pauseMs = (id * 3 + i) % 5;
      if (pauseMs > 0) {
        Work.waitMs(pauseMs);
      }
    }
    return sum;
  }

  /** Requests arrive at the pool in bursts of three, the bursts 10 to 30 ms apart; each is a task of its own. */
  public static long open(ExecutorService pool, int requests, Handler handler)
      throws InterruptedException, ExecutionException {
    List<Future<Long>> answers = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      int number = i;
      answers.add(pool.submit((Callable<Long>) () -> handler.serve(number)));
      Work.waitMs(i % 3 == 2 ? 10 + i % 4 * 7 : 2);
    }
    long sum = 0;
    for (Future<Long> answer : answers) {
      sum += answer.get();
    }
    return sum;
  }
}
