import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;

/**
 * Pairs of critical sections of which it is known by construction whether they conflict. Each case is a class: its a() and
 * its b() are called in turns by two threads, each of them takes a lock of the case's own. Prints "CASE|KIND", where the
 * kind is what `contrafact ulc` has to say of all pairs of the case; or several kinds with commas between them, where it does
 * not follow from the source which of them it is.
 */
public class Sets {
  private static final int ROUNDS = 4;

  @Retention(RetentionPolicy.RUNTIME)
  @interface Expect {
    String value();
  }

  /** Synchronizes on itself, unless the case says otherwise. */
  abstract static class Case {
    abstract void a() throws Exception;

    abstract void b() throws Exception;

    /** Before the first section. */
    void prepare() throws Exception {}
  }

  private static Case make(Class<?> type) throws Exception {
    var constructor = type.getDeclaredConstructor();
    constructor.setAccessible(true);
    return (Case) constructor.newInstance();
  }

  private static void failed(Throwable failure) {
    failure.printStackTrace();
    System.exit(1);
  }

  /** The two threads hand over outside of sections. */
  static void run(Case that, ThreadFactory threads) throws InterruptedException {
    Semaphore mine = new Semaphore(0), its = new Semaphore(0);
    Thread other = threads.newThread(() -> {
      try {
        for (int i = 0; i < ROUNDS; i++) {
          its.acquireUninterruptibly();
          that.b();
          mine.release();
        }
      } catch (Throwable failure) {
        failed(failure);
      }
    });
    Thread one = threads.newThread(() -> {
      try {
        that.prepare();
        for (int i = 0; i < ROUNDS; i++) {
          that.a();
          its.release();
          mine.acquireUninterruptibly();
        }
      } catch (Throwable failure) {
        failed(failure);
      }
    });
    one.start();
    other.start();
    one.join();
    other.join();
  }

  static void runAll(ThreadFactory threads, String[] wanted, Class<?>... groups) throws Exception {
    for (Class<?> group : groups) {
      Class<?>[] types = group.getDeclaredClasses();
      Arrays.sort(types, Comparator.comparing(Class::getName));
      for (Class<?> type : types) {
        Expect expected = type.getAnnotation(Expect.class);
        String name = group.getSimpleName() + "$" + type.getSimpleName();
        if (expected != null && (wanted.length == 0 || Arrays.asList(wanted).contains(type.getSimpleName()))) {
          run(make(type), threads);
          System.out.println(name + "|" + expected.value());
        }
      }
    }
  }

  public static void main(String[] args) throws Exception {
    runAll(Thread::new, args, SetsOfFields.class, SetsOfFieldTypes.class, SetsOfElements.class, SetsOfArrays.class, SetsOfAtomics.class, SetsOfLibrary.class,
        SetsOfLocks.class);
  }
}
