package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The dependencies and Maven commands on the pages name what there is. */
class BuildSnippetsTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Pattern OURS = Pattern.compile("dev\\.ratelimit:([a-z0-9-]+)(?::([\\w.-]+))?");
    private static final Pattern DEPENDENCY = Pattern.compile(
            "<dependency>\\s*<groupId>([\\w.]+)</groupId>\\s*<artifactId>([\\w-]+)</artifactId>(?:\\s*<version>([^<]+)<)?");
    private static final Pattern THEIRS =
            Pattern.compile("`((?:org\\.springframework|io\\.lettuce|org\\.testcontainers)[\\w.]*):([\\w-]+)`");

    private static final Pattern MAVEN = Pattern.compile("^mvn .*|`mvn [^`]*`", Pattern.MULTILINE);
    private static final Pattern MODULES = Pattern.compile(" -pl ([\\w,-]+)");
    private static final Pattern PROFILES = Pattern.compile(" -P([\\w,-]+)");
    private static final Pattern TESTS = Pattern.compile(" -Dtest=(\\w+)");

    static Stream<Path> pages() throws IOException {
        return LinksTest.pages().stream();
    }

    private static String pom(Path folder) {
        try {
            return Files.readString(folder.resolve("pom.xml"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String version() {
        return pom(ROOT).split("<version>", 2)[1].split("<", 2)[0];
    }

    private static Stream<String> found(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(result -> result.group(1));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void dependencies_exist(Path page) throws IOException {
        String text = Files.readString(page);
        String poms;
        try (Stream<Path> folders = Files.list(ROOT)) {
            poms = folders.filter(folder -> Files.exists(folder.resolve("pom.xml")))
                    .map(BuildSnippetsTest::pom)
                    .collect(Collectors.joining());
        }

        for (MatchResult ours : OURS.matcher(text).results().toList()) {
            assertPublished(ours.group(1), ours.group(2));
        }
        for (MatchResult dependency : DEPENDENCY.matcher(text).results().toList()) {
            if (dependency.group(1).equals("dev.ratelimit")) {
                assertPublished(dependency.group(2), dependency.group(3));
            } else {
                assertThat(poms).contains("<artifactId>" + dependency.group(2) + "</artifactId>");
            }
        }
        for (MatchResult theirs : THEIRS.matcher(text).results().toList()) {
            assertThat(poms)
                    .containsPattern("<groupId>" + Pattern.quote(theirs.group(1)) + "</groupId>\\s*<artifactId>"
                            + theirs.group(2) + "</artifactId>");
        }
    }

    private static void assertPublished(String artifact, @Nullable String version) {
        assertThat(pom(ROOT.resolve(artifact))).doesNotContain("<maven.deploy.skip>");
        if (version != null) {
            assertThat(version).isEqualTo(version());
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void commands_nameModulesProfilesAndTests(Path page) throws IOException {
        String pom = pom(ROOT);
        List<String> commands = MAVEN.matcher(Files.readString(page))
                .results()
                .map(MatchResult::group)
                .toList();

        for (String command : commands) {
            assertThat(found(MODULES, command).flatMap(list -> Stream.of(list.split(","))))
                    .as(command)
                    .allMatch(module -> Files.exists(ROOT.resolve(module).resolve("pom.xml")));
            assertThat(found(PROFILES, command).flatMap(list -> Stream.of(list.split(","))))
                    .as(command)
                    .allMatch(profile -> pom.contains("<id>" + profile + "</id>"));
            assertThat(found(TESTS, command)).as(command).allMatch(BuildSnippetsTest::isATest);
        }
    }

    private static boolean isATest(String name) {
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path tests : modules.map(module -> module.resolve("src/test"))
                    .filter(Files::exists)
                    .toList()) {
                try (Stream<Path> files = Files.walk(tests)) {
                    if (files.anyMatch(file -> file.endsWith(name + ".java"))) {
                        return true;
                    }
                }
            }
            return false;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
