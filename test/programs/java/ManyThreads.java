package programs;

import java.util.concurrent.atomic.AtomicInteger;

/** Five thousand threads that live for microseconds, at most a hundred at a time. */
public final class ManyThreads {
  public static void main(String[] arguments) throws Exception {
    AtomicInteger ran = new AtomicInteger();
    for (int wave = 0; wave < 50; wave++) {
      Thread[] threads = new Thread[100];
      for (int i = 0; i < threads.length; i++) {
        threads[i] = new Thread(ran::incrementAndGet);
        threads[i].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    Facts.print("threads", ran.get(), "ends", ran.get(), "waits", 5000);
  }
}
