import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** Cases of {@link Sets}: what is done to arrays. */
final class SetsOfArrays extends Sets {
  @Expect("conflict")
  static final class CopyOverRead extends Case {
    final int[] x = new int[10];

    @Override
    synchronized void a() {
      System.arraycopy(new int[] {1, 2, 3, 4}, 0, x, 3, 4);
    }

    @Override
    synchronized void b() {
      int read = x[6];
    }
  }

  @Expect("disjoint")
  static final class CopyBesideRead extends Case {
    final int[] x = new int[10];

    @Override
    synchronized void a() {
      System.arraycopy(new int[] {1, 2, 3, 4}, 0, x, 3, 4);
    }

    @Override
    synchronized void b() {
      int read = x[7] + x[2];
    }
  }

  @Expect("conflict")
  static final class CopyFromWritten extends Case {
    final Object[] x = new Object[10];

    @Override
    synchronized void a() {
      System.arraycopy(x, 3, new Object[4], 0, 4);
    }

    @Override
    synchronized void b() {
      x[3] = new Object();
    }
  }

  @Expect("disjoint")
  static final class CopyFromBeside extends Case {
    final Object[] x = new Object[10];

    @Override
    synchronized void a() {
      System.arraycopy(x, 3, new Object[4], 0, 4);
    }

    @Override
    synchronized void b() {
      x[2] = new Object();
    }
  }

  @Expect("conflict")
  static final class CopyWithin extends Case {
    final char[] x = "abcdefghij".toCharArray();

    @Override
    synchronized void a() {
      System.arraycopy(x, 0, x, 5, 5);
    }

    @Override
    synchronized void b() {
      x[0]++;
    }
  }

  @Expect("null")
  static final class CopyOfNothing extends Case {
    final int[] x = new int[10];

    @Override
    synchronized void a() {
      System.arraycopy(x, 3, x, 4, 0);
    }

    @Override
    synchronized void b() {
      x[3] = x[3] + 1;
    }
  }

  @Expect("conflict")
  static final class CopyThatFails extends Case {
    final int[] x = new int[10];

    @Override
    synchronized void a() {
      x[0] = x[0] + 1;
      try {
        System.arraycopy(x, 8, x, 0, 5);
        throw new AssertionError();
      } catch (IndexOutOfBoundsException expected) {
        x[1] = 1;
      }
    }

    @Override
    synchronized void b() {
      int read = x[0];
    }
  }

  @Expect("conflict")
  static final class CloneAndWrite extends Case {
    final long[] x = new long[10];

    @Override
    synchronized void a() {
      x.clone()[1] = 5;
    }

    @Override
    synchronized void b() {
      x[9] = x[9] + 1;
    }
  }

  @Expect("read-read")
  static final class CloneAndClone extends Case {
    final String[] x = {"a", "b"};

    @Override
    synchronized void a() {
      x.clone()[1] = "c";
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class CopyOfAndWrite extends Case {
    final int[] x = new int[10];

    @Override
    synchronized void a() {
      Arrays.copyOf(x, 20)[1] = 5;
    }

    @Override
    synchronized void b() {
      x[9] = x[9] + 1;
    }
  }

  @Expect("conflict")
  static final class CopyOfObjectsAndWrite extends Case {
    final Object[] x = new Object[10];

    @Override
    synchronized void a() {
      Arrays.copyOf(x, 20)[1] = 5;
    }

    @Override
    synchronized void b() {
      x[9] = new Object();
    }
  }

  @Expect("conflict")
  static final class CopyOfRangeAndWrite extends Case {
    final Object[] x = new Object[10];

    @Override
    synchronized void a() {
      Arrays.copyOfRange(x, 5, 20)[1] = 5;
    }

    @Override
    synchronized void b() {
      x[9] = new Object();
    }
  }

  @Expect("read-read")
  static final class CopyOfAndRead extends Case {
    final boolean[] x = new boolean[10];

    @Override
    synchronized void a() {
      Arrays.copyOf(x, 20)[1] = true;
    }

    @Override
    synchronized void b() {
      boolean read = x[1];
    }
  }

  @Expect("conflict")
  static final class FillAndRead extends Case {
    final double[] x = new double[10];

    @Override
    synchronized void a() {
      Arrays.fill(x, 1);
      Arrays.fill(x, 2);
    }

    @Override
    synchronized void b() {
      double read = x[9];
    }
  }

  @Expect("disjoint")
  static final class FillBesideRead extends Case {
    final double[] x = new double[10];

    @Override
    synchronized void a() {
      Arrays.fill(x, 2, 9, 1);
      Arrays.fill(x, 2, 9, 2);
    }

    @Override
    synchronized void b() {
      double read = x[9] + x[1];
    }
  }

  @Expect("benign")
  static final class FillWithEqual extends Case {
    final byte[] x = new byte[100];

    @Override
    synchronized void a() {
      Arrays.fill(x, (byte) 0);
    }

    @Override
    synchronized void b() {
      byte read = x[9];
    }
  }

  @Expect("conflict")
  static final class EqualsAndWrite extends Case {
    final int[] x = new int[10];
    final int[] y = new int[10];

    @Override
    synchronized void a() {
      Arrays.equals(x, y);
    }

    @Override
    synchronized void b() {
      y[1] = y[1] + 1;
    }
  }

  @Expect("conflict")
  static final class EqualsOfRangeAndWrite extends Case {
    final byte[] x = new byte[10];
    final byte[] y = new byte[10];

    @Override
    synchronized void a() {
      Arrays.equals(x, 0, 5, y, 0, 5);
    }

    @Override
    synchronized void b() {
      y[1]++;
    }
  }

  @Expect("conflict")
  static final class EqualsOfIntRangeAndWrite extends Case {
    final int[] x = new int[10];
    final int[] y = new int[10];

    @Override
    synchronized void a() {
      Arrays.equals(x, 0, 5, y, 0, 5);
    }

    @Override
    synchronized void b() {
      y[1] = y[1] + 1;
    }
  }

  @Expect("conflict")
  static final class EqualsOfObjectsAndWrite extends Case {
    final Object[] x = {"a", "b", "c"};
    final Object[] y = {"a", "b", "c"};

    @Override
    synchronized void a() {
      Arrays.equals(x, y);
    }

    @Override
    synchronized void b() {
      y[0] = new String("a");
    }
  }

  @Expect("conflict")
  static final class MismatchAndWrite extends Case {
    final long[] x = new long[10];
    final long[] y = new long[10];

    @Override
    synchronized void a() {
      Arrays.mismatch(x, y);
    }

    @Override
    synchronized void b() {
      y[9] = y[9] + 1;
    }
  }

  @Expect("conflict")
  static final class CompareAndWrite extends Case {
    final char[] x = new char[10];
    final char[] y = new char[10];

    @Override
    synchronized void a() {
      Arrays.compare(x, y);
    }

    @Override
    synchronized void b() {
      x[9]++;
    }
  }

  @Expect("conflict")
  static final class HashAndWrite extends Case {
    final int[] x = new int[40];

    @Override
    synchronized void a() {
      Arrays.hashCode(x);
    }

    @Override
    synchronized void b() {
      x[9] = x[9] + 1;
    }
  }

  @Expect("conflict")
  static final class HashOfBytesAndWrite extends Case {
    final byte[] x = new byte[40];

    @Override
    synchronized void a() {
      Arrays.hashCode(x);
    }

    @Override
    synchronized void b() {
      x[9]++;
    }
  }

  @Expect("conflict")
  static final class DeepEqualsAndWrite extends Case {
    final int[][] x = {{1, 2}, {3, 4}};
    final int[][] y = {{1, 2}, {3, 4}};

    @Override
    synchronized void a() {
      Arrays.deepEquals(x, y);
    }

    @Override
    synchronized void b() {
      y[0][0] = y[0][0] + 1;
    }
  }

  @Expect("conflict")
  static final class TextAndWrite extends Case {
    final int[] x = new int[40];

    @Override
    synchronized void a() {
      Arrays.toString(x);
    }

    @Override
    synchronized void b() {
      x[9] = x[9] + 1;
    }
  }

  @Expect("conflict")
  static final class SortAndRead extends Case {
    final int[] x = new int[100];

    @Override
    synchronized void a() {
      for (int i = 0; i < x.length; i++) {
        x[i] = (x[i] + i * 7) % 31;
      }
    }

    @Override
    synchronized void b() {
      int read = x[50];
    }
  }

  @Expect("conflict")
  static final class SortOnlyAndRead extends Case {
    final int[] x = new int[1000];
    int sum;

    @Override
    synchronized void a() {
      Arrays.sort(x);
    }

    @Override
    synchronized void b() {
      sum += x[3];
      for (int i = 0; i < x.length; i++) {
        x[i] = x.length - i;
      }
    }
  }

  @Expect("conflict")
  static final class SortOfObjectsAndRead extends Case {
    final String[] x = {"b", "a", "c"};

    @Override
    synchronized void a() {
      Arrays.sort(x, Collections.reverseOrder());
      Arrays.sort(x);
    }

    @Override
    synchronized void b() {
      String read = x[2];
    }
  }

  @Expect("conflict")
  static final class StreamAndWrite extends Case {
    final int[] x = new int[40];

    @Override
    synchronized void a() {
      Arrays.stream(x).sum();
    }

    @Override
    synchronized void b() {
      x[39] = x[39] + 1;
    }
  }

  @Expect("conflict")
  static final class AsListAndWrite extends Case {
    final Integer[] x = {1, 2, 3};
    final List<Integer> list = Arrays.asList(x);

    @Override
    synchronized void a() {
      list.set(1, list.get(1) + 1);
    }

    @Override
    synchronized void b() {
      Integer read = x[1];
    }
  }

  @Expect("disjoint")
  static final class Rows extends Case {
    final int[][] x = new int[3][4];

    @Override
    synchronized void a() {
      x[0][1] = x[0][1] + 1;
    }

    @Override
    synchronized void b() {
      x[1][1] = x[1][1] + 1;
    }
  }

  @Expect("conflict")
  static final class RowsOfOne extends Case {
    final int[][] x = new int[3][4];

    @Override
    synchronized void a() {
      x[1][1] = x[1][1] + 1;
    }

    @Override
    synchronized void b() {
      int read = x[1][1];
    }
  }

  @Expect("conflict")
  static final class RowReplaced extends Case {
    final int[][] x = new int[3][4];

    @Override
    synchronized void a() {
      x[1] = new int[4];
    }

    @Override
    synchronized void b() {
      int read = x[1][1];
    }
  }

  @Expect("null,read-read")
  static final class BornArrays extends Case {
    @Override
    synchronized void a() {
      int[] made = new int[10];
      made[3] = made[2] + 1;
      Object[] objects = new Object[3];
      objects[1] = made;
      System.arraycopy(objects, 0, objects, 1, 2);
      long[] copy = Arrays.copyOf(new long[] {1, 2}, 5);
      copy[4] = copy.clone()[1];
      Arrays.fill(made, 7);
      Arrays.sort(made);
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("null")
  static final class Lengths extends Case {
    final int[] x = new int[3];

    @Override
    synchronized void a() {
      int read = x.length;
    }

    @Override
    synchronized void b() {
      x[2] = x[2] + 1;
    }
  }

  @Expect("benign")
  static final class ElementIncrements extends Case {
    final int[] x = new int[3];

    @Override
    synchronized void a() {
      x[1]++;
    }

    @Override
    synchronized void b() {
      x[1] += 5;
    }
  }

  @Expect("conflict")
  static final class ElementIncrementAndRead extends Case {
    final long[] x = new long[3];

    @Override
    synchronized void a() {
      x[1]++;
    }

    @Override
    synchronized void b() {
      long read = x[1];
    }
  }

  @Expect("conflict")
  static final class ElementIncrementOfUse extends Case {
    final int[] x = new int[3];
    int next() {
      return x[1]++;
    }

    @Override
    synchronized void a() {
      next();
    }

    @Override
    synchronized void b() {
      x[1]++;
    }
  }

  @Expect("conflict")
  static final class ElementsBackwards extends Case {
    final int[] x = new int[300];

    @Override
    synchronized void a() {
      for (int i = x.length - 1; i >= 0; i--) {
        x[i] = x[i] + 1;
      }
    }

    @Override
    synchronized void b() {
      int read = x[299] + x[0];
    }
  }

  @Expect("disjoint")
  static final class ElementsInTurns extends Case {
    final int[] x = new int[300];

    @Override
    synchronized void a() {
      for (int i = 0; i < x.length; i += 2) {
        x[i] = x[i] + 1;
      }
    }

    @Override
    synchronized void b() {
      for (int i = 1; i < x.length; i += 2) {
        x[i] = x[i] + 1;
      }
    }
  }

  @Expect("conflict")
  static final class ElementsOfTwoArrays extends Case {
    final int[] x = new int[300];
    final int[] y = new int[300];

    @Override
    synchronized void a() {
      for (int i = 0; i < x.length; i++) {
        x[i] = y[i];
      }
    }

    @Override
    synchronized void b() {
      y[299] = y[299] + 1;
    }
  }

  @Expect("conflict")
  static final class ManyArrays extends Case {
    final int[][] x = new int[1000][10];

    @Override
    synchronized void a() {
      for (int i = 0; i < 10; i++) {
        for (int[] row : x) {
          row[i] = row[i] + 1;
        }
      }
    }

    @Override
    synchronized void b() {
      int read = x[999][9] + x[0][0];
    }
  }

  @Expect("conflict")
  static final class StringOfChars extends Case {
    final char[] x = "some text".toCharArray();

    @Override
    synchronized void a() {
      new String(x);
    }

    @Override
    synchronized void b() {
      x[3]++;
    }
  }

  @Expect("conflict")
  static final class StringOfPartOfChars extends Case {
    final char[] x = "some text".toCharArray();

    @Override
    synchronized void a() {
      new String(x, 2, 4);
    }

    @Override
    synchronized void b() {
      x[3]++;
    }
  }

  @Expect("conflict")
  static final class StringOfBytes extends Case {
    final byte[] x = "some text".getBytes();

    @Override
    synchronized void a() {
      new String(x, java.nio.charset.StandardCharsets.UTF_8);
    }

    @Override
    synchronized void b() {
      x[3] = (byte) (x[3] == 'a' ? 'b' : 'a');
    }
  }

  @Expect("conflict")
  static final class StringOfBytesDefault extends Case {
    final byte[] x = "some text".getBytes();

    @Override
    synchronized void a() {
      new String(x);
    }

    @Override
    synchronized void b() {
      x[3] = (byte) (x[3] == 'a' ? 'b' : 'a');
    }
  }

  @Expect("conflict")
  static final class StringOfCodePoints extends Case {
    final int[] x = {65, 66, 67};

    @Override
    synchronized void a() {
      new String(x, 0, 3);
    }

    @Override
    synchronized void b() {
      x[2] = x[2] + 1;
    }
  }

  @Expect("conflict")
  static final class ValueOfChars extends Case {
    final char[] x = "some text".toCharArray();

    @Override
    synchronized void a() {
      String.valueOf(x);
    }

    @Override
    synchronized void b() {
      x[3]++;
    }
  }

  @Expect("conflict")
  static final class GetChars extends Case {
    final char[] x = new char[10];

    @Override
    synchronized void a() {
      "abc".getChars(0, 3, x, 2);
      "abd".getChars(0, 3, x, 2);
    }

    @Override
    synchronized void b() {
      char read = x[4];
    }
  }

  @Expect("conflict")
  static final class GetCharsOfBuilder extends Case {
    final char[] x = new char[10];

    @Override
    synchronized void a() {
      new StringBuilder("abc").getChars(0, 3, x, 2);
    }

    @Override
    synchronized void b() {
      char read = x[4];
    }
  }

  @Expect("conflict")
  static final class ToCharsInto extends Case {
    final char[] x = new char[10];

    @Override
    synchronized void a() {
      Character.toChars(65, x, 4);
    }

    @Override
    synchronized void b() {
      char read = x[4];
    }
  }

  @Expect("conflict")
  static final class CodePointAt extends Case {
    final char[] x = new char[10];

    @Override
    synchronized void a() {
      Character.codePointAt(x, 4);
    }

    @Override
    synchronized void b() {
      x[4]++;
    }
  }

  @Expect("conflict")
  static final class HeapBufferGetAndPut extends Case {
    final ByteBuffer x = ByteBuffer.allocate(100);

    @Override
    synchronized void a() {
      x.put(5, (byte) (x.get(5) + 1));
    }

    @Override
    synchronized void b() {
      byte read = x.get(5);
    }
  }

  @Expect("disjoint")
  static final class HeapBufferOtherIndex extends Case {
    final byte[] x = new byte[100];
    final ByteBuffer buffer = ByteBuffer.wrap(x);

    @Override
    synchronized void a() {
      buffer.put(5, (byte) (buffer.get(5) + 1));
    }

    @Override
    synchronized void b() {
      x[6]++;
    }
  }

  @Expect("conflict")
  static final class HeapBufferOfInts extends Case {
    final byte[] x = new byte[100];
    final ByteBuffer buffer = ByteBuffer.wrap(x);

    @Override
    synchronized void a() {
      buffer.putInt(40, buffer.getInt(40) + 1);
    }

    @Override
    synchronized void b() {
      byte read = x[43];
    }
  }

  @Expect("conflict")
  static final class HeapBufferOfLongs extends Case {
    final byte[] x = new byte[100];
    final ByteBuffer buffer = ByteBuffer.wrap(x);

    @Override
    synchronized void a() {
      x[17]++;
    }

    @Override
    synchronized void b() {
      long read = buffer.getLong(10);
    }
  }

  @Expect("conflict")
  static final class HeapBufferRelative extends Case {
    final ByteBuffer x = ByteBuffer.allocate(100);

    @Override
    synchronized void a() {
      x.put((byte) 1);
    }

    @Override
    synchronized void b() {
      x.position();
    }
  }

  @Expect("conflict")
  static final class HeapBufferBulk extends Case {
    final byte[] x = new byte[100];
    final ByteBuffer buffer = ByteBuffer.wrap(x);

    @Override
    synchronized void a() {
      buffer.put(10, new byte[20]);
    }

    @Override
    synchronized void b() {
      x[29]++;
    }
  }

  @Expect("conflict")
  static final class HeapBufferBulkGet extends Case {
    final byte[] x = new byte[100];
    final ByteBuffer buffer = ByteBuffer.wrap(x);

    @Override
    synchronized void a() {
      buffer.get(10, new byte[20]);
    }

    @Override
    synchronized void b() {
      x[29]++;
    }
  }

  @Expect("conflict")
  static final class HeapBufferOfBuffer extends Case {
    final byte[] x = new byte[100];
    final ByteBuffer buffer = ByteBuffer.wrap(x);

    @Override
    synchronized void a() {
      ByteBuffer.allocate(100).put(buffer.duplicate());
    }

    @Override
    synchronized void b() {
      x[29]++;
    }
  }

  @Expect("conflict")
  static final class HeapBufferMismatch extends Case {
    final byte[] x = new byte[100];
    final ByteBuffer buffer = ByteBuffer.wrap(x);

    @Override
    synchronized void a() {
      buffer.mismatch(ByteBuffer.allocate(100));
    }

    @Override
    synchronized void b() {
      x[29]++;
    }
  }

  @Expect("conflict")
  static final class CharBuffers extends Case {
    final CharBuffer x = CharBuffer.allocate(100);

    @Override
    synchronized void a() {
      x.put(5, (char) (x.get(5) + 1));
    }

    @Override
    synchronized void b() {
      char read = x.get(5);
    }
  }

  @Expect("conflict")
  static final class CharViewOfBytes extends Case {
    final byte[] x = new byte[100];
    final CharBuffer view = ByteBuffer.wrap(x).asCharBuffer();

    @Override
    synchronized void a() {
      view.put(5, (char) (view.get(5) + 1));
    }

    @Override
    synchronized void b() {
      byte read = x[11];
    }
  }

  @Expect("unknown")
  static final class DirectBuffers extends Case {
    final ByteBuffer x = ByteBuffer.allocateDirect(100);

    @Override
    synchronized void a() {
      x.put(5, (byte) (x.get(5) + 1));
    }

    @Override
    synchronized void b() {
      byte read = x.get(5);
    }
  }

  @Expect("unknown")
  static final class DirectBuffersOfLongs extends Case {
    final ByteBuffer x = ByteBuffer.allocateDirect(100);

    @Override
    synchronized void a() {
      x.putLong(8, x.getLong(8) + 1);
    }

    @Override
    synchronized void b() {
      long read = x.getLong(8);
    }
  }

  @Expect("unknown")
  static final class DirectBufferBulk extends Case {
    final ByteBuffer x = ByteBuffer.allocateDirect(100);

    @Override
    synchronized void a() {
      x.put(8, new byte[20]);
    }

    @Override
    synchronized void b() {
      x.get(8, new byte[20]);
    }
  }

  @Expect("unknown")
  static final class ManyElements extends Case {
    final byte[] x = new byte[4000000];

    @Override
    synchronized void a() {
      for (int i = 0; i < x.length; i += 2) {
        x[i]++;
      }
    }

    @Override
    synchronized void b() {
      byte read = x[1];
    }
  }

  @Expect("unknown,conflict")
  static final class ReadByOthers extends Case {
    final int[] x = new int[100000];

    @Override
    synchronized void a() {
      Arrays.stream(x).parallel().sum();
    }

    @Override
    synchronized void b() {
      x[99999] = x[99999] + 1;
      x[0] = 1;
    }
  }

  @Expect("conflict")
  static final class SortedByOthers extends Case {
    final int[] x = new int[100000];

    @Override
    synchronized void a() {
      Arrays.parallelSort(x);
    }

    @Override
    synchronized void b() {
      x[99999] = x[99999] + 1;
    }
  }
}
