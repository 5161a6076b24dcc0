import java.net.URI;
import java.nio.file.*;
import java.util.stream.Stream;

/** Copies class files to a folder: {@code Dump OUT_DIR EVERY jrt:MODULE|JAR ...}, every EVERY-th of them. */
public final class Dump {
    public static void main(String[] args) throws Exception {
        Path out = Path.of(args[0]);
        int every = Integer.parseInt(args[1]);
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
                    if (name.startsWith("META-INF/") || count++ % every != 0) continue;
                    Path target = out.resolve(name);
                    Files.createDirectories(target.getParent());
                    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
        System.out.println(count + " classes seen");
    }
}
