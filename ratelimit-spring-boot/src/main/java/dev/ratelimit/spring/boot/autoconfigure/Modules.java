package dev.ratelimit.spring.boot.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/** Finds the modules of this library on the class path, whose jars tell their names and versions. */
final class Modules {

    private static final Logger log = LoggerFactory.getLogger(Modules.class);

    /** For Spring Boot 4, and for 3.5. */
    static final List<String> OF_SPRING_BOOT = List.of("ratelimit-spring-boot", "ratelimit-spring-boot3");

    static final List<String> STARTERS = List.of("-starter", "-starter-webflux");

    private static final List<String> OTHERS = List.of(
            "ratelimit-core",
            "ratelimit-redis",
            "ratelimit-spring",
            "ratelimit-client",
            "ratelimit-kotlin",
            "ratelimit-test");

    /** A module, such as {@code ratelimit-core}, and its version. */
    record Module(String name, String version) {}

    private Modules() {}

    /** The modules in jars, each as often as it is there; those that an IDE has built are not found. */
    static List<Module> in(@Nullable ClassLoader loader) {
        ClassLoader used = loader == null ? ClassUtils.getDefaultClassLoader() : loader;
        Stream<String> names = Stream.concat(
                OTHERS.stream(),
                OF_SPRING_BOOT.stream()
                        .flatMap(prefix ->
                                Stream.concat(Stream.of(""), STARTERS.stream()).map(prefix::concat)));
        return used == null
                ? List.of()
                : names.flatMap(name -> find(name, used).stream()).toList();
    }

    private static List<Module> find(String name, ClassLoader loader) {
        List<Module> found = new ArrayList<>();
        try {
            for (URL url :
                    Collections.list(loader.getResources("META-INF/maven/dev.ratelimit/" + name + "/pom.properties"))) {
                Properties properties = new Properties();
                try (InputStream content = url.openStream()) {
                    properties.load(content);
                }
                found.add(new Module(name, properties.getProperty("version", "")));
            }
        } catch (IOException e) {
            log.debug("The version of {} cannot be read", name, e);
        }
        return found;
    }
}
