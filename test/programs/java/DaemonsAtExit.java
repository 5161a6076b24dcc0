package programs;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Daemon threads in the middle of their work when main returns. */
public final class DaemonsAtExit {
  public static void main(String[] arguments) throws Exception {
    CountDownLatch started = new CountDownLatch(10);
    for (int i = 0; i < 10; i++) {
      Thread daemon = new Thread(() -> {
        started.countDown();
        for (;;) {
          LockSupport.parkNanos(1_000_000);
        }
      });
      daemon.setDaemon(true);
      daemon.start();
    }
    started.await();
    Facts.print("threads", 10, "starts", 10, "ends", 0);
  }
}
