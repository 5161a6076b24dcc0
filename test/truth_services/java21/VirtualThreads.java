import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** A virtual thread for each request, and a semaphore that lets four of them ask another service. Changed: thirty-two of them. */
final class VirtualThreads {
  private final Semaphore calls;

  private VirtualThreads(int callsMax) {
    calls = new Semaphore(callsMax);
  }

  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "thirty-two-calls");
    VirtualThreads items = new VirtualThreads(service.variant.equals("base") ? 4 : 32);
    service.serve(Executors.newVirtualThreadPerTaskExecutor(), items::answer);
  }

  private String answer(int id) throws InterruptedException {
    String details;
    calls.acquire();
    try {
      details = Remote.ask("details", id, 9);
    } finally {
      calls.release();
    }
    return Page.of("item", id, 1200 + id % 7 * 200).summary() + " " + details;
  }
}
