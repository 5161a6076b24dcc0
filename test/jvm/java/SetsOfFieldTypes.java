/** Cases of {@link Sets}: fields and statics of each type. */
final class SetsOfFieldTypes extends Sets {
  @Expect("conflict")
  static final class LongFieldChanges extends Case {
    long x = 1L << 40;

    @Override
    synchronized void a() {
      x = 2L << 40;
      x = 1L << 40;
    }

    @Override
    synchronized void b() {
      long read = x;
    }
  }

  @Expect("benign")
  static final class LongFieldStays extends Case {
    long x = 1L << 40;

    @Override
    synchronized void a() {
      x = 1L << 40;
    }

    @Override
    synchronized void b() {
      long read = x;
    }
  }

  @Expect("conflict")
  static final class LongStaticChanges extends Case {
    static long x = 1L << 40;

    @Override
    synchronized void a() {
      x = 2L << 40;
      x = 1L << 40;
    }

    @Override
    synchronized void b() {
      long read = x;
    }
  }

  @Expect("benign")
  static final class LongStaticStays extends Case {
    static long x = 1L << 40;

    @Override
    synchronized void a() {
      x = 1L << 40;
    }

    @Override
    synchronized void b() {
      long read = x;
    }
  }

  @Expect("conflict")
  static final class DoubleFieldChanges extends Case {
    double x = 1.5;

    @Override
    synchronized void a() {
      x = 2.5;
      x = 1.5;
    }

    @Override
    synchronized void b() {
      double read = x;
    }
  }

  @Expect("benign")
  static final class DoubleFieldStays extends Case {
    double x = 1.5;

    @Override
    synchronized void a() {
      x = 1.5;
    }

    @Override
    synchronized void b() {
      double read = x;
    }
  }

  @Expect("conflict")
  static final class DoubleStaticChanges extends Case {
    static double x = 1.5;

    @Override
    synchronized void a() {
      x = 2.5;
      x = 1.5;
    }

    @Override
    synchronized void b() {
      double read = x;
    }
  }

  @Expect("benign")
  static final class DoubleStaticStays extends Case {
    static double x = 1.5;

    @Override
    synchronized void a() {
      x = 1.5;
    }

    @Override
    synchronized void b() {
      double read = x;
    }
  }

  @Expect("conflict")
  static final class FloatFieldChanges extends Case {
    float x = 0.0f;

    @Override
    synchronized void a() {
      x = -0.0f;
      x = 0.0f;
    }

    @Override
    synchronized void b() {
      float read = x;
    }
  }

  @Expect("benign")
  static final class FloatFieldStays extends Case {
    float x = 0.0f;

    @Override
    synchronized void a() {
      x = 0.0f;
    }

    @Override
    synchronized void b() {
      float read = x;
    }
  }

  @Expect("conflict")
  static final class FloatStaticChanges extends Case {
    static float x = 0.0f;

    @Override
    synchronized void a() {
      x = -0.0f;
      x = 0.0f;
    }

    @Override
    synchronized void b() {
      float read = x;
    }
  }

  @Expect("benign")
  static final class FloatStaticStays extends Case {
    static float x = 0.0f;

    @Override
    synchronized void a() {
      x = 0.0f;
    }

    @Override
    synchronized void b() {
      float read = x;
    }
  }

  @Expect("conflict")
  static final class BooleanFieldChanges extends Case {
    boolean x = true;

    @Override
    synchronized void a() {
      x = false;
      x = true;
    }

    @Override
    synchronized void b() {
      boolean read = x;
    }
  }

  @Expect("benign")
  static final class BooleanFieldStays extends Case {
    boolean x = true;

    @Override
    synchronized void a() {
      x = true;
    }

    @Override
    synchronized void b() {
      boolean read = x;
    }
  }

  @Expect("conflict")
  static final class BooleanStaticChanges extends Case {
    static boolean x = true;

    @Override
    synchronized void a() {
      x = false;
      x = true;
    }

    @Override
    synchronized void b() {
      boolean read = x;
    }
  }

  @Expect("benign")
  static final class BooleanStaticStays extends Case {
    static boolean x = true;

    @Override
    synchronized void a() {
      x = true;
    }

    @Override
    synchronized void b() {
      boolean read = x;
    }
  }

  @Expect("conflict")
  static final class ByteFieldChanges extends Case {
    byte x = (byte) 1;

    @Override
    synchronized void a() {
      x = (byte) -1;
      x = (byte) 1;
    }

    @Override
    synchronized void b() {
      byte read = x;
    }
  }

  @Expect("benign")
  static final class ByteFieldStays extends Case {
    byte x = (byte) 1;

    @Override
    synchronized void a() {
      x = (byte) 1;
    }

    @Override
    synchronized void b() {
      byte read = x;
    }
  }

  @Expect("conflict")
  static final class ByteStaticChanges extends Case {
    static byte x = (byte) 1;

    @Override
    synchronized void a() {
      x = (byte) -1;
      x = (byte) 1;
    }

    @Override
    synchronized void b() {
      byte read = x;
    }
  }

  @Expect("benign")
  static final class ByteStaticStays extends Case {
    static byte x = (byte) 1;

    @Override
    synchronized void a() {
      x = (byte) 1;
    }

    @Override
    synchronized void b() {
      byte read = x;
    }
  }

  @Expect("conflict")
  static final class CharFieldChanges extends Case {
    char x = 'a';

    @Override
    synchronized void a() {
      x = 'b';
      x = 'a';
    }

    @Override
    synchronized void b() {
      char read = x;
    }
  }

  @Expect("benign")
  static final class CharFieldStays extends Case {
    char x = 'a';

    @Override
    synchronized void a() {
      x = 'a';
    }

    @Override
    synchronized void b() {
      char read = x;
    }
  }

  @Expect("conflict")
  static final class CharStaticChanges extends Case {
    static char x = 'a';

    @Override
    synchronized void a() {
      x = 'b';
      x = 'a';
    }

    @Override
    synchronized void b() {
      char read = x;
    }
  }

  @Expect("benign")
  static final class CharStaticStays extends Case {
    static char x = 'a';

    @Override
    synchronized void a() {
      x = 'a';
    }

    @Override
    synchronized void b() {
      char read = x;
    }
  }

  @Expect("conflict")
  static final class ShortFieldChanges extends Case {
    short x = (short) 1;

    @Override
    synchronized void a() {
      x = (short) 300;
      x = (short) 1;
    }

    @Override
    synchronized void b() {
      short read = x;
    }
  }

  @Expect("benign")
  static final class ShortFieldStays extends Case {
    short x = (short) 1;

    @Override
    synchronized void a() {
      x = (short) 1;
    }

    @Override
    synchronized void b() {
      short read = x;
    }
  }

  @Expect("conflict")
  static final class ShortStaticChanges extends Case {
    static short x = (short) 1;

    @Override
    synchronized void a() {
      x = (short) 300;
      x = (short) 1;
    }

    @Override
    synchronized void b() {
      short read = x;
    }
  }

  @Expect("benign")
  static final class ShortStaticStays extends Case {
    static short x = (short) 1;

    @Override
    synchronized void a() {
      x = (short) 1;
    }

    @Override
    synchronized void b() {
      short read = x;
    }
  }

  @Expect("conflict")
  static final class IntFieldChanges extends Case {
    int x = 1;

    @Override
    synchronized void a() {
      x = 2;
      x = 1;
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("benign")
  static final class IntFieldStays extends Case {
    int x = 1;

    @Override
    synchronized void a() {
      x = 1;
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("conflict")
  static final class IntStaticChanges extends Case {
    static int x = 1;

    @Override
    synchronized void a() {
      x = 2;
      x = 1;
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("benign")
  static final class IntStaticStays extends Case {
    static int x = 1;

    @Override
    synchronized void a() {
      x = 1;
    }

    @Override
    synchronized void b() {
      int read = x;
    }
  }

  @Expect("conflict")
  static final class StringFieldChanges extends Case {
    String x = "one";

    @Override
    synchronized void a() {
      x = "two";
      x = "one";
    }

    @Override
    synchronized void b() {
      String read = x;
    }
  }

  @Expect("benign")
  static final class StringFieldStays extends Case {
    String x = "one";

    @Override
    synchronized void a() {
      x = "one";
    }

    @Override
    synchronized void b() {
      String read = x;
    }
  }

  @Expect("conflict")
  static final class StringStaticChanges extends Case {
    static String x = "one";

    @Override
    synchronized void a() {
      x = "two";
      x = "one";
    }

    @Override
    synchronized void b() {
      String read = x;
    }
  }

  @Expect("benign")
  static final class StringStaticStays extends Case {
    static String x = "one";

    @Override
    synchronized void a() {
      x = "one";
    }

    @Override
    synchronized void b() {
      String read = x;
    }
  }

}
