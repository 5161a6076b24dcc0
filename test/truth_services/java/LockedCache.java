import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * A cache of what another service knows, under one lock: whoever misses keeps it until the answer is there. Changed: the answer is
 * fetched outside the lock.
 */
final class LockedCache {
  private static final int HANDLERS = 32;
  private static final int CAPACITY = 32;

  private final Map<Integer, String> known = new LinkedHashMap<>(CAPACITY, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry<Integer, String> eldest) {
      return size() > CAPACITY;
    }
  };

  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "fetch-outside");
    LockedCache cache = new LockedCache();
    service.serve(Executors.newFixedThreadPool(HANDLERS), service.variant.equals("base") ? cache::locked : cache::unlocked);
  }

  private String locked(int id) throws InterruptedException {
    String details;
    synchronized (known) {
      details = known.get(id);
      if (details == null) {
        details = fetch(id);
        known.put(id, details);
      }
    }
    return page(id, details);
  }

  private String unlocked(int id) throws InterruptedException {
    String details;
    synchronized (known) {
      details = known.get(id);
    }
    if (details == null) {
      details = fetch(id);
      synchronized (known) {
        known.put(id, details);
      }
    }
    return page(id, details);
  }

  private static String fetch(int id) throws InterruptedException {
    return Remote.ask("details", id, 8);
  }

  private static String page(int id, String details) {
    return Page.of("item", id, 1500 + id % 5 * 300).summary() + " " + details;
  }
}
