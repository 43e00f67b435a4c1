package dev.ratelimit.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.boot.version.Boot;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;

class SpringBootVersionCheckTest {

    private static final String BOOT_4 = "ratelimit-spring-boot";
    private static final String BOOT_3 = "ratelimit-spring-boot3";

    @ParameterizedTest
    @CsvSource({
        BOOT_4 + ", 4.0.0",
        BOOT_4 + ", 4.1.0",
        BOOT_4 + ", 4.2.0-SNAPSHOT",
        BOOT_4 + ", 10.0.0",
        BOOT_4 + ", ",
        BOOT_3 + ", 3.5.0",
        BOOT_3 + ", 3.5.16",
        BOOT_3 + ", 3.12.0",
        BOOT_3 + ", "
    })
    void version_ofTheModules_fits(String modules, String version) {
        assertThatCode(() -> SpringBootVersionCheck.check(Set.of(modules + "-starter"), version))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                BOOT_4 + "|-starter|3.5.16|4|use ratelimit-spring-boot3-starter instead",
                BOOT_4 + "|-starter-webflux|3.5.0|4|use ratelimit-spring-boot3-starter-webflux instead",
                BOOT_4 + "|-starter|3.4.9|4|upgrade Spring Boot or remove the starter",
                BOOT_3 + "|-starter|4.1.0|3.5|use ratelimit-spring-boot-starter instead",
                BOOT_3 + "|-starter-webflux|4.0.0|3.5|use ratelimit-spring-boot-starter-webflux instead",
                BOOT_3 + "|-starter|3.4.9|3.5|upgrade Spring Boot or remove the starter"
            })
    void version_ofOtherModules_isRefused_withTheirName(
            String modules, String starter, String version, String needed, String remedy) {
        assertThatThrownBy(() -> SpringBootVersionCheck.check(Set.of(modules + starter), version))
                .hasMessage(modules + starter + ": this starter needs Spring Boot " + needed
                        + ", and the application runs on Spring Boot " + version + "; " + remedy);
    }

    @ParameterizedTest
    @CsvSource({
        "4.1.0, " + BOOT_4 + "-starter, " + BOOT_3 + "-starter, 3.5",
        "3.5.16, " + BOOT_3 + "-starter, " + BOOT_4 + "-starter, 4"
    })
    void starterOfAnotherVersion_besideTheRightOne_isToBeRemoved(
            String version, String right, String wrong, String needed) {
        assertThatThrownBy(() -> SpringBootVersionCheck.check(Set.of(right, wrong), version))
                .hasMessage(wrong + ": this starter needs Spring Boot " + needed
                        + ", and the application runs on Spring Boot " + version + "; remove it, since " + right
                        + " is there");
    }

    @Test
    void starterOfAnotherVersionAndStack_isFoundBesideARightOne() {
        assertThatThrownBy(() ->
                        SpringBootVersionCheck.check(Set.of(BOOT_4 + "-starter", BOOT_3 + "-starter-webflux"), "4.1.0"))
                .hasMessageStartingWith(BOOT_3 + "-starter-webflux: ")
                .hasMessageEndingWith("use " + BOOT_4 + "-starter-webflux instead");
    }

    @Test
    void starters_areFound_byTheirJars(@TempDir Path jar) throws IOException {
        for (String module : List.of("ratelimit-core", BOOT_4, BOOT_3 + "-starter")) {
            Path file = jar.resolve("META-INF/maven/dev.ratelimit/" + module + "/pom.properties");
            Files.createDirectories(file.getParent());
            Files.createFile(file);
        }

        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null)) {
            assertThat(SpringBootVersionCheck.in(loader)).containsExactly(BOOT_3 + "-starter");
        }
    }

    @Test
    void check_isMadeAtEachStart_beforeOthers() {
        assertThat(new SpringApplication(Object.class).getInitializers())
                .first()
                .isInstanceOf(SpringBootVersionCheck.class);
    }

    @Test
    void modules_fitTheVersionThatTheyAreBuiltWith() {
        assertThatCode(() ->
                        SpringBootVersionCheck.check(Set.of(Boot.MODULES + "-starter"), SpringBootVersion.getVersion()))
                .doesNotThrowAnyException();
    }
}
