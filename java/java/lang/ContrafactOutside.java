package java.lang;

/**
 * What code reads and writes that is in no tracked section: the observer of src/classfile/accesses.h for it. What it reads with a taint is
 * an indirect flow (FlowProf, section 5.6); what it writes has none. No initialiser, as for ContrafactFlow.
 */
public final class ContrafactOutside {
  /** 1 once anything in memory is tainted. */
  public static int observers;

  private static final int ADDS = 1 << 31;  // of a field's number

  private ContrafactOutside() {}

  public static void read(Object object, int number) {
    if (object != null) {
      report(ContrafactTaints.shadowOf(object, number));
    }
  }

  public static void readStatic(int number) {
    report(ContrafactTaints.shadowOfStatic(number));
  }

  public static void readElement(Object array, int index) {
    if (array != null) {
      report(ContrafactTaints.shadowOfElement(array, index));
    }
  }

  private static void report(int set) {
    if (set != 0) {
      ContrafactFlow.readOutside(set);
    }
  }

  private static void write(Object object, int number) {
    if (number < 0) {  // the old value is part of the new one
      read(object, number & ~ADDS);
    } else {
      ContrafactTaints.setShadow(object, number, 0);
    }
  }

  private static void writeStatic(int number) {
    if (number < 0) {
      readStatic(number & ~ADDS);
    } else {
      ContrafactTaints.setShadowOfStatic(number, 0);
    }
  }

  private static void store(Object array, int index, int adds) {
    if (array != null) {
      if (adds != 0) {
        readElement(array, index);
      } else {
        ContrafactTaints.setShadowOfElement(array, index, 0);
      }
    }
  }

  public static void wrote(Object object, int before, int after, int number) {
    write(object, number);
  }

  public static void wrote(Object object, long before, long after, int number) {
    write(object, number);
  }

  public static void wrote(Object object, float before, float after, int number) {
    write(object, number);
  }

  public static void wrote(Object object, double before, double after, int number) {
    write(object, number);
  }

  public static void wrote(Object object, Object before, Object after, int number) {
    write(object, number);
  }

  public static void wroteStatic(int before, int after, int number) {
    writeStatic(number);
  }

  public static void wroteStatic(long before, long after, int number) {
    writeStatic(number);
  }

  public static void wroteStatic(float before, float after, int number) {
    writeStatic(number);
  }

  public static void wroteStatic(double before, double after, int number) {
    writeStatic(number);
  }

  public static void wroteStatic(Object before, Object after, int number) {
    writeStatic(number);
  }

  public static void storing(int[] array, int index, int value, int adds) {
    store(array, index, adds);
  }

  public static void storing(long[] array, int index, long value, int adds) {
    store(array, index, adds);
  }

  public static void storing(float[] array, int index, float value, int adds) {
    store(array, index, adds);
  }

  public static void storing(double[] array, int index, double value, int adds) {
    store(array, index, adds);
  }

  public static void storing(Object[] array, int index, Object value, int adds) {
    store(array, index, adds);
  }

  public static void storing(char[] array, int index, int value, int adds) {
    store(array, index, adds);
  }

  public static void storing(short[] array, int index, int value, int adds) {
    store(array, index, adds);
  }

  /** Of bytes or booleans. */
  public static void storing(Object array, int index, int value, int adds) {
    store(array, index, adds);
  }

  /** Nothing outside is a section's own. */
  public static void made(Object object) {}
}
