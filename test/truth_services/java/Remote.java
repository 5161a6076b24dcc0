/** Services of other machines: the caller's thread waits for the answer, as at a socket, and reads it. */
final class Remote {
  private static final int ROWS_READ = 25;

  private Remote() {}

  /** What another machine knows of an item, after {@code milliseconds}. */
  static String ask(String what, int id, int milliseconds) throws InterruptedException {
    Thread.sleep(milliseconds);
    return Page.of(what, id, ROWS_READ).summary();
  }
}
