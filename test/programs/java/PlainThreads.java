package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads made of a Runnable, of a subclass and with a name of their own, each joined. */
public final class PlainThreads {
  public static void main(String[] arguments) throws Exception {
    AtomicInteger ran = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      threads.add(new Thread(ran::incrementAndGet));
      threads.add(new Worker(ran));
      threads.add(new Thread(null, ran::incrementAndGet, "named-" + i));
    }
    for (Thread thread : threads) {
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    Facts.print("threads", ran.get(), "ends", ran.get(), "waits", threads.size());
  }

  private static final class Worker extends Thread {
    private final AtomicInteger ran;

    Worker(AtomicInteger ran) {
      this.ran = ran;
    }

    @Override
    public void run() {
      ran.incrementAndGet();
    }
  }
}
