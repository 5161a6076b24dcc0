import java.net.URI;
import java.nio.file.*;
import java.util.stream.Stream;

/**
 * Copies class files to a folder: {@code Dump OUT_DIR VERSION jrt:MODULE|JAR ...}, as if compiled for the given class-file
 * version if that is not 0.
 */
public final class Dump {
    public static void main(String[] args) throws Exception {
        Path out = Path.of(args[0]);
        byte version = Byte.parseByte(args[1]);
        int count = 0;
        for (int i = 2; i < args.length; i++) {
            boolean module = args[i].startsWith("jrt:");
            FileSystem files = module ? FileSystems.getFileSystem(URI.create("jrt:/"))
                                      : FileSystems.newFileSystem(Path.of(args[i]));
            Path root = module ? files.getPath("/modules", args[i].substring(4)) : files.getPath("/");
            try (Stream<Path> walk = Files.walk(root)) {
                for (Path file : (Iterable<Path>) walk.sorted()::iterator) {
                    String name = root.relativize(file).toString();
                    if (!name.endsWith(".class") || name.endsWith("module-info.class")) continue;
                    if (name.startsWith("META-INF/")) continue;
                    count++;
                    Path target = out.resolve(name);
                    Files.createDirectories(target.getParent());
                    byte[] bytes = Files.readAllBytes(file);
                    if (version != 0) bytes[7] = version;
                    Files.write(target, bytes);
                }
            }
        }
        System.out.println(count + " classes");
    }
}
