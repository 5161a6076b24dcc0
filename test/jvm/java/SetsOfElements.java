/** Cases of {@link Sets}: elements of arrays of each type. */
final class SetsOfElements extends Sets {
  @Expect("conflict")
  static final class LongElementsSame extends Case {
    final long[] x = {1L << 40, 1L << 40, 1L << 40};

    @Override
    synchronized void a() {
      x[1] = 2L << 40;
      x[1] = 1L << 40;
    }

    @Override
    synchronized void b() {
      long read = x[1];
    }
  }

  @Expect("disjoint")
  static final class LongElementsOther extends Case {
    final long[] x = {1L << 40, 1L << 40, 1L << 40};

    @Override
    synchronized void a() {
      x[1] = 2L << 40;
      x[1] = 1L << 40;
    }

    @Override
    synchronized void b() {
      long read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class LongElementsSilent extends Case {
    final long[] x = {1L << 40, 1L << 40, 1L << 40};

    @Override
    synchronized void a() {
      x[1] = 1L << 40;
    }

    @Override
    synchronized void b() {
      long read = x[1];
    }
  }

  @Expect("conflict")
  static final class DoubleElementsSame extends Case {
    final double[] x = {1.5, 1.5, 1.5};

    @Override
    synchronized void a() {
      x[1] = 2.5;
      x[1] = 1.5;
    }

    @Override
    synchronized void b() {
      double read = x[1];
    }
  }

  @Expect("disjoint")
  static final class DoubleElementsOther extends Case {
    final double[] x = {1.5, 1.5, 1.5};

    @Override
    synchronized void a() {
      x[1] = 2.5;
      x[1] = 1.5;
    }

    @Override
    synchronized void b() {
      double read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class DoubleElementsSilent extends Case {
    final double[] x = {1.5, 1.5, 1.5};

    @Override
    synchronized void a() {
      x[1] = 1.5;
    }

    @Override
    synchronized void b() {
      double read = x[1];
    }
  }

  @Expect("conflict")
  static final class FloatElementsSame extends Case {
    final float[] x = {0.0f, 0.0f, 0.0f};

    @Override
    synchronized void a() {
      x[1] = -0.0f;
      x[1] = 0.0f;
    }

    @Override
    synchronized void b() {
      float read = x[1];
    }
  }

  @Expect("disjoint")
  static final class FloatElementsOther extends Case {
    final float[] x = {0.0f, 0.0f, 0.0f};

    @Override
    synchronized void a() {
      x[1] = -0.0f;
      x[1] = 0.0f;
    }

    @Override
    synchronized void b() {
      float read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class FloatElementsSilent extends Case {
    final float[] x = {0.0f, 0.0f, 0.0f};

    @Override
    synchronized void a() {
      x[1] = 0.0f;
    }

    @Override
    synchronized void b() {
      float read = x[1];
    }
  }

  @Expect("conflict")
  static final class BooleanElementsSame extends Case {
    final boolean[] x = {true, true, true};

    @Override
    synchronized void a() {
      x[1] = false;
      x[1] = true;
    }

    @Override
    synchronized void b() {
      boolean read = x[1];
    }
  }

  @Expect("disjoint")
  static final class BooleanElementsOther extends Case {
    final boolean[] x = {true, true, true};

    @Override
    synchronized void a() {
      x[1] = false;
      x[1] = true;
    }

    @Override
    synchronized void b() {
      boolean read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class BooleanElementsSilent extends Case {
    final boolean[] x = {true, true, true};

    @Override
    synchronized void a() {
      x[1] = true;
    }

    @Override
    synchronized void b() {
      boolean read = x[1];
    }
  }

  @Expect("conflict")
  static final class ByteElementsSame extends Case {
    final byte[] x = {(byte) 1, (byte) 1, (byte) 1};

    @Override
    synchronized void a() {
      x[1] = (byte) -1;
      x[1] = (byte) 1;
    }

    @Override
    synchronized void b() {
      byte read = x[1];
    }
  }

  @Expect("disjoint")
  static final class ByteElementsOther extends Case {
    final byte[] x = {(byte) 1, (byte) 1, (byte) 1};

    @Override
    synchronized void a() {
      x[1] = (byte) -1;
      x[1] = (byte) 1;
    }

    @Override
    synchronized void b() {
      byte read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class ByteElementsSilent extends Case {
    final byte[] x = {(byte) 1, (byte) 1, (byte) 1};

    @Override
    synchronized void a() {
      x[1] = (byte) 1;
    }

    @Override
    synchronized void b() {
      byte read = x[1];
    }
  }

  @Expect("conflict")
  static final class CharElementsSame extends Case {
    final char[] x = {'a', 'a', 'a'};

    @Override
    synchronized void a() {
      x[1] = 'b';
      x[1] = 'a';
    }

    @Override
    synchronized void b() {
      char read = x[1];
    }
  }

  @Expect("disjoint")
  static final class CharElementsOther extends Case {
    final char[] x = {'a', 'a', 'a'};

    @Override
    synchronized void a() {
      x[1] = 'b';
      x[1] = 'a';
    }

    @Override
    synchronized void b() {
      char read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class CharElementsSilent extends Case {
    final char[] x = {'a', 'a', 'a'};

    @Override
    synchronized void a() {
      x[1] = 'a';
    }

    @Override
    synchronized void b() {
      char read = x[1];
    }
  }

  @Expect("conflict")
  static final class ShortElementsSame extends Case {
    final short[] x = {(short) 1, (short) 1, (short) 1};

    @Override
    synchronized void a() {
      x[1] = (short) 300;
      x[1] = (short) 1;
    }

    @Override
    synchronized void b() {
      short read = x[1];
    }
  }

  @Expect("disjoint")
  static final class ShortElementsOther extends Case {
    final short[] x = {(short) 1, (short) 1, (short) 1};

    @Override
    synchronized void a() {
      x[1] = (short) 300;
      x[1] = (short) 1;
    }

    @Override
    synchronized void b() {
      short read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class ShortElementsSilent extends Case {
    final short[] x = {(short) 1, (short) 1, (short) 1};

    @Override
    synchronized void a() {
      x[1] = (short) 1;
    }

    @Override
    synchronized void b() {
      short read = x[1];
    }
  }

  @Expect("conflict")
  static final class IntElementsSame extends Case {
    final int[] x = {1, 1, 1};

    @Override
    synchronized void a() {
      x[1] = 2;
      x[1] = 1;
    }

    @Override
    synchronized void b() {
      int read = x[1];
    }
  }

  @Expect("disjoint")
  static final class IntElementsOther extends Case {
    final int[] x = {1, 1, 1};

    @Override
    synchronized void a() {
      x[1] = 2;
      x[1] = 1;
    }

    @Override
    synchronized void b() {
      int read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class IntElementsSilent extends Case {
    final int[] x = {1, 1, 1};

    @Override
    synchronized void a() {
      x[1] = 1;
    }

    @Override
    synchronized void b() {
      int read = x[1];
    }
  }

  @Expect("conflict")
  static final class StringElementsSame extends Case {
    final String[] x = {"one", "one", "one"};

    @Override
    synchronized void a() {
      x[1] = "two";
      x[1] = "one";
    }

    @Override
    synchronized void b() {
      String read = x[1];
    }
  }

  @Expect("disjoint")
  static final class StringElementsOther extends Case {
    final String[] x = {"one", "one", "one"};

    @Override
    synchronized void a() {
      x[1] = "two";
      x[1] = "one";
    }

    @Override
    synchronized void b() {
      String read = x[2] == x[0] ? x[0] : x[2];
    }
  }

  @Expect("benign")
  static final class StringElementsSilent extends Case {
    final String[] x = {"one", "one", "one"};

    @Override
    synchronized void a() {
      x[1] = "one";
    }

    @Override
    synchronized void b() {
      String read = x[1];
    }
  }

}
