import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Does as it pleases with its descriptors: whatever number it overwrites or closes, it overwrites and closes nothing but its own. What
 * it does, and the library of duplicate.cc, are its arguments.
 */
class Descriptors {
  static final int LOW = 3;
  static final int HIGH = 4096;
  static final int TASKS = 30_000;

  static native int duplicate(int number, int at);

  static native int close(int number);

  /**
   * The open descriptors that a program may come by, with their files, but for the one that lists them, and for those with which the JVM
   * itself looks now and then, at whatever number is free, at how much memory and how many cores its group may use.
   */
  static TreeMap<Integer, String> open() throws IOException {
    TreeMap<Integer, String> found = new TreeMap<>();
    try (var folder = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path link : folder) {
        try {
          String file = Files.readSymbolicLink(link).toString();
          int number = Integer.parseInt(link.getFileName().toString());
          if (number < 512 && !file.matches("/proc/\\d+/fd|/sys/fs/cgroup/.*")) found.put(number, file);
        } catch (IOException closed) {
          // it listed the folder
        }
      }
    }
    return found;
  }

  static int numberOf(String file) throws IOException {
    for (var each : open().entrySet()) {
      if (each.getValue().endsWith("/" + file)) return each.getKey();
    }
    throw new IllegalStateException(file);
  }

  static boolean isTheJvms(String file) {
    return file != null && file.startsWith(System.getProperty("java.home"));
  }

  static void list() throws Exception {
    System.out.println("open at first: " + open().keySet());
    List<FileOutputStream> files = new ArrayList<>();
    for (int i = 0; i < 10; ++i) {
      files.add(new FileOutputStream("own" + i));
      System.out.println("own" + i + ": " + numberOf("own" + i));
    }
    runTasks(TASKS);
    System.out.println("open later: " + open().keySet());
    for (FileOutputStream file : files) file.close();
  }

  /** Its own file at every number that is not the JVM's, while tasks run; then all are closed, and more tasks run. */
  static void overwrite() throws Exception {
    try (FileOutputStream own = new FileOutputStream("own", true)) {
      int number = numberOf("own");
      runTasks(TASKS / 30);
      for (int round = 0; round < 28; ++round) {
        TreeMap<Integer, String> before = open();
        for (int at = LOW; at < HIGH; ++at) {
          if (at != number && !isTheJvms(before.get(at))) duplicate(number, at);
        }
        runTasks(TASKS / 30);
        own.write(("line " + round + "\n").getBytes());
        Thread.sleep(25);
      }
      TreeMap<Integer, String> before = open();
      for (int at = LOW; at < HIGH; ++at) {
        if (at != number && !isTheJvms(before.get(at))) close(at);
      }
      runTasks(TASKS / 30);
    }
  }

  static void runTasks(int count) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    for (int i = 0; i < count; ++i) pool.execute(() -> {});
    pool.shutdown();
    while (!pool.isTerminated()) Thread.sleep(1);
  }

  public static void main(String[] arguments) throws Exception {
    System.load(arguments[1]);
    switch (arguments[0]) {
      case "list" -> list();
      case "overwrite" -> overwrite();
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }
}
