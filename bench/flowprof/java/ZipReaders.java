import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * The same with the JDK's own java.util.zip.ZipFile: its streams read under the ZipFile's lock, and below that from one open file, whose
 * position all of them move. That is a conflict: a lock for each stream alone does not do. Twin: a file for each thread.
 */
final class ZipReaders {
  private static final int ENTRIES = 16;
  private static final int ENTRY_BYTES = 256 * 1024;

  private static void write(Path archive) throws IOException {
    Random random = new Random(1);
    byte[] plain = new byte[ENTRY_BYTES];
    try (OutputStream out = Files.newOutputStream(archive); ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.setMethod(ZipOutputStream.STORED);
      for (int i = 0; i < ENTRIES; i++) {
        random.nextBytes(plain);
        CRC32 sum = new CRC32();
        sum.update(plain);
        ZipEntry entry = new ZipEntry("entry-" + i);
        entry.setSize(plain.length);
        entry.setCrc(sum.getValue());
        zip.putNextEntry(entry);
        zip.write(plain);
        zip.closeEntry();
      }
    }
  }

  private static long extract(ZipFile zip, int entry, byte[] buffer) throws IOException {
    long sum = 0;
    try (InputStream in = zip.getInputStream(zip.getEntry("entry-" + entry))) {
      for (int count; (count = in.read(buffer)) > 0;) {
        for (int i = 0; i < count; i++) sum = sum * 31 + buffer[i];
      }
    }
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    boolean twin = Crew.isTwin(arguments);
    int extractions = Crew.count(arguments) / Crew.THREADS;
    Path folder = Files.createTempDirectory("zip-readers");
    Path[] archives = new Path[Crew.THREADS];
    ZipFile[] zips = new ZipFile[Crew.THREADS];
    try {
      for (int i = 0; i < (twin ? Crew.THREADS : 1); i++) {
        archives[i] = folder.resolve("archive-" + i + ".zip");
        write(archives[i]);
        zips[i] = new ZipFile(archives[i].toFile());
      }
      System.out.println(Crew.run(number -> {
        ZipFile zip = zips[twin ? number : 0];
        byte[] buffer = new byte[4096];
        long sum = 0;
        for (int i = 0; i < extractions; i++) sum += extract(zip, (i + 4 * number) % ENTRIES, buffer);
        return sum;
      }));
    } finally {
      for (ZipFile zip : zips) {
        if (zip != null) zip.close();
      }
      for (Path archive : archives) {
        if (archive != null) Files.deleteIfExists(archive);
      }
      Files.deleteIfExists(folder);
    }
  }
}
