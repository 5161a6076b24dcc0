package traced;

import java.io.InputStream;
import java.util.concurrent.locks.LockSupport;

/**
 * Loads one of two classes of the same shape, has it park a few times, drops it, and so on: what the JVM kept for the one is
 * often found where it kept the other before.
 */
public final class Unloading {
  private static final int ROUNDS = 60;
  private static final int PARKS = 6;

  /** The twins differ in nothing but their names. */
  public static final class First implements Runnable {
    @Override
    public void run() {
      firstParks();
    }

    private static void firstParks() {
      for (int i = 0; i < PARKS; i++) {
        LockSupport.unpark(Thread.currentThread());
        LockSupport.park();
      }
    }
  }

  public static final class Other implements Runnable {
    @Override
    public void run() {
      otherParks();
    }

    private static void otherParks() {
      for (int i = 0; i < PARKS; i++) {
        LockSupport.unpark(Thread.currentThread());
        LockSupport.park();
      }
    }
  }

  private static final class Loader extends ClassLoader {
    Class<?> define(String name) throws Exception {
      try (InputStream in = Unloading.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < ROUNDS; i++) {
      String twin = i % 2 == 0 ? "traced.Unloading$First" : "traced.Unloading$Other";
      ((Runnable) new Loader().define(twin).getConstructor().newInstance()).run();
      System.gc();
    }
    System.out.println("unloaded");
  }
}
