package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What users of a module can call, one line per member, compared with {@code docs/api}: a review of a change shows the
 * changes of the public API. {@code -Dapi.update} rewrites the file.
 */
public final class PublicApi {

    private PublicApi() {}

    /**
     * Checks the public types of these packages of a module, each named by one of its types.
     *
     * @param module the module of the file
     */
    public static void check(String module, Class<?>... packages) throws IOException {
        Path file = Path.of("..", "docs", "api", module + ".txt");
        String api = Stream.of(packages).map(PublicApi::of).collect(Collectors.joining("\n"));
        if (System.getProperty("api.update") != null) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, api);
        }
        assertThat(file)
                .as(
                        "The public API of %s differs from docs/api. If that is meant, run mvn -pl %s -am test"
                                + " -Dtest=PublicApiTest -Dsurefire.failIfNoSpecifiedTests=false -Dapi.update, and commit"
                                + " the file with the change",
                        module, module)
                .hasContent(api);
    }

    private static String of(Class<?> member) {
        String types = types(member).stream().map(PublicType::text).collect(Collectors.joining("\n"));
        return "package " + member.getPackageName() + "\n\n" + types;
    }

    private static List<Class<?>> types(Class<?> member) {
        Path directory = classes(member).resolve(member.getPackageName().replace('.', '/'));
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class") && !name.equals("package-info.class"))
                    .map(name -> member.getPackageName() + "." + name.substring(0, name.length() - ".class".length()))
                    .<Class<?>>map(PublicApi::load)
                    .filter(PublicType::isVisible)
                    .sorted(Comparator.comparing(Class::getName))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path classes(Class<?> member) {
        try {
            return Path.of(
                    member.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, PublicApi.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
