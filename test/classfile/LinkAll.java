import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.*;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Links, and so verifies, every class below a folder without initializing it: {@code LinkAll boot DIR} asks the boot loader
 * for them (they are on its patch path), {@code LinkAll DIR} a loader over the folder, {@code LinkAll DIR ORIGINAL_DIR}
 * also tells failures that the original classes have as well. Exit status 1 if a class does not verify.
 */
public final class LinkAll {
    public static void main(String[] args) throws Exception {
        boolean boot = args[0].equals("boot");
        Path folder = Path.of(args[boot ? 1 : 0]);
        ClassLoader original = !boot && args.length > 1 ? loaderOf(Path.of(args[1])) : null;
        ClassLoader loader = boot ? null : loaderOf(folder);
        int linked = 0, unresolved = 0, rejected = 0;
        for (String name : classNames(folder)) {
            Throwable problem = link(name, loader);
            if (problem == null) {
                linked++;
            } else if (problem instanceof VerifyError || problem instanceof ClassFormatError) {
                if (original != null && link(name, original) instanceof LinkageError) {
                    unresolved++;
                    continue;
                }
                if (rejected++ < 20) System.out.println("REJECTED " + name + ": " + problem);
            } else {
                unresolved++;
            }
        }
        System.out.println(linked + " linked, " + unresolved + " with missing dependencies, " + rejected + " rejected");
        System.exit(rejected == 0 && linked > 0 ? 0 : 1);
    }

    private static ClassLoader loaderOf(Path folder) throws Exception {
        return new URLClassLoader(new URL[] {folder.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
    }

    private static List<String> classNames(Path folder) throws Exception {
        List<String> names = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(folder)) {
            walk.sorted().forEach(file -> {
                String name = folder.relativize(file).toString();
                if (name.endsWith(".class")) names.add(name.substring(0, name.length() - 6).replace('/', '.'));
            });
        }
        return names;
    }

    /** What linking the class fails with, or null. HotSpot links a class before it lists its members. */
    private static Throwable link(String name, ClassLoader loader) {
        try {
            Class.forName(name, false, loader).getDeclaredConstructors();
            return null;
        } catch (Throwable problem) {
            return problem;
        }
    }
}
