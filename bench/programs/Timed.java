import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Runs a program that has a main method of its own, and prints the time from entering it to the program's end: its return,
 * or its System.exit.
 */
public final class Timed {
  public static void main(String[] arguments) throws Throwable {
    var program = Class.forName(arguments[0]).getMethod("main", String[].class);
    long begin = System.nanoTime();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("work_ns=" + (System.nanoTime() - begin))));
    try {
      program.invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
