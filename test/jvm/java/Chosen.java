import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Programs whose chosen classes are chosen in vain, or that use up what a recorder needs, too. `Chosen WHAT` prints "done WHAT". */
public final class Chosen {
  private Chosen() {}

  static final class WithoutLocks {
    static long sum(int count) {
      long sum = 0;
      for (int i = 0; i < count; i++) {
        sum += i;
      }
      return sum;
    }
  }

  static final class Once {
    private int count;

    void count() {
      synchronized (this) {
        count++;
      }
    }
  }

  /** Takes its lock until no heap is left, again and again. */
  static final class Heap {
    private static final int TIMES = 20;
    private static final int PIECE = 100_000;

    private final List<byte[]> kept = new ArrayList<>();
    private int full;

    void fill() {
      while (full < TIMES) {
        synchronized (this) {
          try {
            kept.add(new byte[PIECE]);
          } catch (OutOfMemoryError expected) {
            kept.clear();
            full++;
          }
        }
      }
    }
  }

  /** Takes its lock ever deeper, until no stack is left, and has to have given it back as often. */
  static final class Stack {
    private int deepest;

    void enter(int depth) {
      synchronized (this) {
        deepest = Math.max(deepest, depth);
        enter(depth + 1);
      }
    }

    void overflow() {
      for (int i = 0; i < 3; i++) {
        try {
          enter(0);
        } catch (StackOverflowError expected) {
          if (Thread.holdsLock(this) || deepest == 0) {
            throw new AssertionError("the lock was not given back");
          }
        }
      }
    }
  }

  /** The bytes of one of the JDK's classes, in which one name stands instead of another one as long. */
  private static void write(String type, String name, String other, Path file) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (InputStream in = Object.class.getResourceAsStream("/" + type + ".class")) {
      in.transferTo(bytes);
    }
    String text = new String(bytes.toByteArray(), StandardCharsets.ISO_8859_1);
    String entry = "\1\0" + (char) name.length();
    if (!text.contains(entry + name)) {
      throw new AssertionError("there is no " + name + " in " + type);
    }
    Files.createDirectories(file.getParent());
    Files.write(file, text.replace(entry + name, entry + other).getBytes(StandardCharsets.ISO_8859_1));
  }

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "without-locks" -> WithoutLocks.sum(1000);
      case "once" -> new Once().count();
      case "heap" -> new Heap().fill();
      case "stack" -> new Stack().overflow();
      case "busy" -> {
        Once once = new Once();
        for (int i = 0; i < 2_000_000; i++) {
          once.count();
        }
      }
      case "write" -> write(args[1], args[2], args[3], Path.of(args[4]));
      default -> throw new IllegalArgumentException(args[0]);
    }
    System.out.println("done " + args[0]);
  }
}
