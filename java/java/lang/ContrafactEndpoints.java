package java.lang;

import static java.lang.ContrafactEvents.*;
import static java.lang.ContrafactProbes.*;

/**
 * The probes of what requests ask for: the thread that works for one says the endpoint's number. Which number a method and a path have
 * is kept by their hash in a table of a fixed size; a place that another path takes is asked for again.
 */
public final class ContrafactEndpoints {
  // Format: NamedBy in src/format/event.h.
  private static final int BY_PATH = 0;
  private static final int BY_MAPPING = 1;
  private static final int BY_PATTERN = 2;
  private static final int BY_CONFIGURATION = 3;

  private static final int LOOKED = 1024;  // characters of a path: kPathBytesLooked in src/agent_jvm/endpoint_name.h
  private static final int PLACES = 1 << 13;
  private static final int NUMBER = 0xffff;  // of a place: the endpoint's number plus one; above it the hash
  private static final long KNOWN = places(8 * PLACES);
  private static final long SEED = 0xcbf29ce484222325L;

  private ContrafactEndpoints() {}

  static void prepare() {
    number(null, null, false, null);
    text(null, null);
  }

  /** The address of so many zero bytes. */
  private static native long places(int bytes);

  /** The number plus one of an endpoint; `instead`: another name for it where there are too many, or null. */
  private static native int number(String method, String path, boolean pattern, String instead);

  /** What the object's method of this name returns, if that is a String; null: none, or it threw something. */
  private static native String text(Object object, String getter);

  /** A path that a client sent. The method is a String, or an object that stands for it. */
  public static void path(Object method, String path) {
    if (live && path != null) {
      long began = ContrafactCosts.began();
      emitAlso(Thread.currentThread(), ENDPOINT, numberOf(textOf(method), path, false, null), BY_PATH);
      ContrafactCosts.ended(ENDPOINT, began);
    }
  }

  /** HttpServer: the context that serves it. What serves everything says nothing. */
  public static void context(String method, String path, String context) {
    if (live && path != null) {
      long began = ContrafactCosts.began();
      boolean all = context == null || context.length() <= 1;
      emitAlso(Thread.currentThread(), ENDPOINT, numberOf(method, all ? path : context, !all, null), BY_MAPPING);
      ContrafactCosts.ended(ENDPOINT, began);
    }
  }

  /** A servlet, or the container before it: the request says to what its path is mapped. */
  public static void servlet(String method, String path, Object request) {
    if (live && path != null) {
      long began = ContrafactCosts.began();
      emitAlso(Thread.currentThread(), ENDPOINT, numberOf(method, path, false, request), BY_MAPPING);
      ContrafactCosts.ended(ENDPOINT, began);
    }
  }

  /** To what the request's path is mapped, where there is more of the path than that. */
  private static String mapped(Object request) {
    return request == null || text(request, "getPathInfo") == null ? null : text(request, "getServletPath");
  }

  /** The pattern that a web framework found to fit; not that of the page which tells of an error. */
  public static void pattern(String method, Object pattern, Object dispatcher) {
    if (live && pattern != null && !"ERROR".equals(textOf(dispatcher))) {
      emitAlso(Thread.currentThread(), ENDPOINT, numberOf(method, textOf(pattern), true, null), BY_PATTERN);
    }
  }

  /** By the recording's configuration: a method of the program's is the endpoint. */
  public static void configured(int number) {
    if (live && number > 0) {
      emitAlso(Thread.currentThread(), ENDPOINT, number - 1, BY_CONFIGURATION);
    }
  }

  /** The same, named by arguments, or by what their getters return (null: the argument itself). */
  public static void configured(Object method, String methodGetter, Object path, String pathGetter) {
    if (live) {
      String text = got(path, pathGetter);
      if (text != null) {
        emitAlso(Thread.currentThread(), ENDPOINT, numberOf(got(method, methodGetter), text, false, null), BY_CONFIGURATION);
      }
    }
  }

  private static String got(Object object, String getter) {
    return object == null ? null : getter == null ? textOf(object) : text(object, getter);
  }

  /** A String's, or what an object of a library says; nothing that it throws goes on. */
  private static String textOf(Object object) {
    if (object == null || object instanceof String) {
      return (String) object;
    }
    try {
      return object.toString();
    } catch (Throwable thrown) {
      return null;
    }
  }

  /** None: there is no memory for the table. A request of a servlet's may have another name, which is asked for where this one is new. */
  private static int numberOf(String method, String path, boolean pattern, Object request) {
    if (KNOWN == 0) {
      return NONE;
    }
    long hash = hash(hash(pattern ? SEED + 1 : SEED, method), path);
    hash ^= hash >>> 29;
    long place = KNOWN + 8 * (hash & (PLACES - 1));
    long there = U.getLongOpaque(null, place);
    if (((there ^ hash) & ~NUMBER) == 0 && there != 0) {
      return (int) (there & NUMBER) - 1;
    }
    int number = number(method, path, pattern, mapped(request));
    if (number > 0) {
      U.putLongOpaque(null, place, hash & ~NUMBER | number);
    }
    return number - 1;
  }

  /** FNV-1a over characters. */
  private static long hash(long hash, String text) {
    int length = text == null ? 0 : Math.min(text.length(), LOOKED);
    for (int i = 0; i < length; i++) {
      hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
    }
    return (hash ^ length) * 0x100000001b3L;
  }
}
