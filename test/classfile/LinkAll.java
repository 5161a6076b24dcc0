import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.*;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Links, and so verifies, every class below a folder without initializing it: {@code LinkAll boot DIR} asks the boot loader
 * for them (they are on its patch path), {@code LinkAll DIR ORIGINAL_DIR} a loader over the folder; then classes that fail to
 * link in their original form, too, do not count. Exit status 1 if any other class fails, or none links.
 */
public final class LinkAll {
    public static void main(String[] args) throws Exception {
        boolean boot = args[0].equals("boot");
        Path folder = Path.of(args[boot ? 1 : 0]);
        ClassLoader original = !boot ? loaderOf(Path.of(args[1])) : null;
        ClassLoader loader = boot ? null : loaderOf(folder);
        int linked = 0, unresolved = 0, rejected = 0;
        for (String name : classNames(folder)) {
            Throwable problem = link(name, loader);
            if (problem == null) {
                linked++;
            } else if (original != null && link(name, original) != null) {
                unresolved++;
            } else if (rejected++ < 20) {
                System.out.println("REJECTED " + name + ": " + problem);
            }
        }
        System.out.println(linked + " linked, " + unresolved + " not linkable in their original form either, " + rejected + " rejected");
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
