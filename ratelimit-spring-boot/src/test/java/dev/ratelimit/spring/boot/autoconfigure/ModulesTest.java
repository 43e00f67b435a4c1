package dev.ratelimit.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModulesTest {

    @TempDir
    private Path here;

    private Path jar(String directory, String module, String properties) throws IOException {
        Path root = here.resolve(directory);
        Path file = root.resolve("META-INF/maven/dev.ratelimit/" + module + "/pom.properties");
        Files.createDirectories(file.getParent());
        Files.writeString(file, properties);
        return root;
    }

    @Test
    void modules_areFound_withTheirVersions() throws IOException {
        Path one = jar("one", "ratelimit-spring-boot3-starter", "artifactId=any\nversion=0.2.0\n");
        Path two = jar("two", "ratelimit-core", "version=0.1.0\n");
        Path again = jar("again", "ratelimit-core", "");
        URL[] urls = {one.toUri().toURL(), two.toUri().toURL(), again.toUri().toURL()};

        try (URLClassLoader loader = new URLClassLoader(urls, null)) {
            assertThat(Modules.in(loader))
                    .containsExactly(
                            new Modules.Module("ratelimit-core", "0.1.0"),
                            new Modules.Module("ratelimit-core", ""),
                            new Modules.Module("ratelimit-spring-boot3-starter", "0.2.0"));
        }
    }
}
