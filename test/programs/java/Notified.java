package programs;

/** Three threads that wait at one monitor until they are notified, one of them alone and two together; a wait that only time ends. */
public final class Notified {
  private static int waiting;
  private static int released;

  public static void main(String[] arguments) throws Exception {
    Object gate = new Object();
    Thread[] threads = new Thread[3];
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(() -> pass(gate), "waiting-" + i);
      threads[i].start();
    }
    for (boolean all = false; !all; Thread.sleep(1)) {
      synchronized (gate) {
        all = waiting == threads.length;
      }
    }
    synchronized (gate) {
      released = 1;
      gate.notify();
    }
    for (boolean one = false; !one; Thread.sleep(1)) {
      synchronized (gate) {
        one = waiting == threads.length - 1;
      }
    }
    synchronized (gate) {
      released = threads.length;
      gate.notifyAll();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    Object nobody = new Object();
    synchronized (nobody) {
      nobody.notify();
      nobody.wait(5);
    }
    Facts.print("threads", 3, "waits", 3, "notified", 3, "unnotified", 1, "left", waiting);
  }

  private static void pass(Object gate) {
    try {
      synchronized (gate) {
        waiting++;
        while (released == 0 || released < 3 && waiting < 3) {
          gate.wait();
        }
        waiting--;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
