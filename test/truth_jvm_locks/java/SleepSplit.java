/** Two devices behind one monitor, each of which takes its time; the twin has a monitor for each. */
public final class SleepSplit {
  private static final int ROUNDS = 200;
  private static final Object DEVICES = new Object();

  private static void disk(Object lock) throws InterruptedException {
    synchronized (lock) {
      Thread.sleep(4);
    }
  }

  private static void net(Object lock) throws InterruptedException {
    synchronized (lock) {
      Thread.sleep(2);
    }
  }

  public static void main(String[] args) throws Exception {
    Object other = Work.isTwin(args) ? new Object() : DEVICES;
    Work.inThreads(2, thread -> {
      for (int i = 0; i < ROUNDS; i++) {
        if (thread == 0) {
          disk(DEVICES);
        } else {
          net(other);
        }
        Thread.sleep(1);
      }
      return thread;
    });
  }
}
