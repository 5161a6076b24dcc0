import java.util.concurrent.Executors;

/** Where nothing helps: the time is computing, and there are more handlers than cores. Changed: still more handlers. */
final class CpuBound {
  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "more-handlers");
    int handlers = service.variant.equals("base") ? 8 : 32;
    service.serve(Executors.newFixedThreadPool(handlers), CpuBound::report);
  }

  private static String report(int id) {
    return Page.of("report", id, 4000 + id % 7 * 1000).summary();
  }
}
