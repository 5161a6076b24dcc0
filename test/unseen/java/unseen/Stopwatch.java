package unseen;

/** What all programs here print: what they worked out, and how long their tasks took. */
final class Stopwatch {
  private final long begun = System.nanoTime();

  void print(Object result) {
    System.out.printf("result %s us %d%n", result, (System.nanoTime() - begun) / 1000);
  }

  /** The number that a twin is called by, or else `usual`. */
  static int size(String[] arguments, int usual) {
    return arguments.length > 0 && arguments[0].chars().allMatch(Character::isDigit) ? Integer.parseInt(arguments[0]) : usual;
  }

  static boolean isTwin(String[] arguments, String name) {
    return arguments.length > 0 && arguments[0].equals(name);
  }
}
