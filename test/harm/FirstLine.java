import java.lang.ProcessBuilder.Redirect;

/** Ends in its first line: how, and the file of killer.cc, are its arguments. */
class FirstLine {
  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "halts" -> Runtime.getRuntime().halt(33);
      case "killed" -> System.load(arguments[1]);
      case "killed_by_other" -> {
        String self = Long.toString(ProcessHandle.current().pid());
        new ProcessBuilder("kill", "-9", self).redirectError(Redirect.INHERIT).start().waitFor();
      }
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }
}
