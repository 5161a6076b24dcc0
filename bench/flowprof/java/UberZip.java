import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/**
 * Threads that extract the entries of one archive in memory, as UberZip does: each entry's stream has its own place in the bytes and
 * its own key, but all streams of an archive read under the archive's lock. Twin: a lock for each stream (the paper's fix).
 */
final class UberZip {
  private static final int ENTRIES = 16;
  private static final int ENTRY_BYTES = 60_000;
  private static final int PACKED_BYTES = 2048;  // read at once

  static final class Archive {
    private final boolean lockOfStream;
    private final byte[] bytes;
    private final int[] begin = new int[ENTRIES + 1];

    Archive(boolean lockOfStream) throws IOException {
      this.lockOfStream = lockOfStream;
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (int entry = 0; entry < ENTRIES; entry++) {
        byte[] packed = packed(entry);
        int key = entry + 1;
        for (int i = 0; i < packed.length; i++) {
          key = nextKey(key);
          packed[i] ^= (byte) key;
        }
        out.write(packed);
        begin[entry + 1] = out.size();
      }
      bytes = out.toByteArray();
    }

    private static byte[] packed(int entry) throws IOException {
      Random random = new Random(entry);
      byte[] plain = new byte[ENTRY_BYTES];
      random.nextBytes(plain);  // pictures, as they are in archives: hardly anything to inflate
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (DeflaterOutputStream deflater = new DeflaterOutputStream(out)) {
        deflater.write(plain);
      }
      return out.toByteArray();
    }

    InputStream open(int entry) {
      return new EntryStream(this, entry);
    }
  }

  static int nextKey(int key) {
    key ^= key << 13;
    key ^= key >>> 17;
    return key ^ key << 5;
  }

  static final class EntryStream extends InputStream {
    private final Archive archive;
    private final Object lock;
    private final int end;
    private int position;
    private int key;

    EntryStream(Archive archive, int entry) {
      this.archive = archive;
      lock = archive.lockOfStream ? this : archive;
      position = archive.begin[entry];
      end = archive.begin[entry + 1];
      key = entry + 1;
    }

    @Override
    public int read(byte[] to, int offset, int length) {
      synchronized (lock) {
        int count = Math.min(length, end - position);
        if (count == 0) return -1;
        for (int i = 0; i < count; i++) {
          key = nextKey(key);
          to[offset + i] = (byte) (archive.bytes[position++] ^ key);
        }
        return count;
      }
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }
  }

  private static long extract(Archive archive, int entry, byte[] buffer) throws IOException {
    CRC32 sum = new CRC32();
    Inflater inflater = new Inflater();
    try (InputStream in = new InflaterInputStream(archive.open(entry), inflater, PACKED_BYTES)) {
      for (int count; (count = in.read(buffer)) > 0;) sum.update(buffer, 0, count);
    } finally {
      inflater.end();
    }
    return sum.getValue();
  }

  public static void main(String[] arguments) throws Exception {
    Archive archive = new Archive(Crew.isTwin(arguments));
    int extractions = Crew.count(arguments);
    AtomicInteger next = new AtomicInteger();
    System.out.println(Crew.run(number -> {
      byte[] buffer = new byte[4096];
      long sum = 0;
      for (int i; (i = next.getAndIncrement()) < extractions;) sum += extract(archive, i % ENTRIES, buffer);
      return sum;
    }));
  }
}
