package java.lang;

import jdk.internal.vm.annotation.ForceInline;

/**
 * What the injected code calls while the agent feeds an analysis (src/agent_jvm/analysis_probes.cc). All is inert until the
 * agent sets `live`; the class has no initialiser, since its callers run in the earliest part of the start-up.
 */
public final class ContrafactAnalysis {
  public static boolean live;

  private static final int NOT_COUNTED = -1;

  private ContrafactAnalysis() {}

  /** Initialises the injected classes and links their native methods; throws whatever is wrong with them. */
  static void prepare() {
    ContrafactAnalysisEvents.prepare();
  }

  /** A method begins. Returns what its end takes. */
  @ForceInline
  public static int enter(int method) {
    return live ? ContrafactAnalysisEvents.enter(method) : NOT_COUNTED;
  }

  /** A method catches an exception: it may have come from code that could not tell of its end. */
  @ForceInline
  public static void caught(int caller, int method) {
    if (caller != NOT_COUNTED) {
      ContrafactAnalysisEvents.exit(method);
    }
  }

  /** A method ends, by an exception or not. */
  @ForceInline
  public static void exit(int caller) {
    if (caller != NOT_COUNTED) {
      ContrafactAnalysisEvents.exit(caller);
    }
  }

  /** As `exit`, for analyses that want to know. */
  public static void exit(int caller, int method, int thrown) {
    if (caller != NOT_COUNTED) {
      ContrafactAnalysisEvents.exit(caller, method, thrown);
    }
  }

  /** `method` made an object of this class. */
  @ForceInline
  public static void allocated(Class<?> type, int method) {
    if (live) {
      ContrafactAnalysisEvents.allocate(type, method);
    }
  }

  /** `method` made this array. */
  @ForceInline
  public static void allocatedArray(Object array, int length, int method) {
    if (live) {
      ContrafactAnalysisEvents.allocateArray(array.getClass(), length, method);
    }
  }

  /** `method` made this array and the arrays in it, down to `dimensions`. */
  public static void allocatedArrays(Object array, int dimensions, int method) {
    if (live) {
      ContrafactAnalysisEvents.allocateArrays(array, dimensions, method);
    }
  }

  /** `method` got this object from code without bytecodes, which made it: clone, reflection. Null: it made nothing. */
  public static void allocatedByVm(Object made, int method) {
    if (live && made != null) {
      ContrafactAnalysisEvents.allocateObject(made, method);
    }
  }
}
