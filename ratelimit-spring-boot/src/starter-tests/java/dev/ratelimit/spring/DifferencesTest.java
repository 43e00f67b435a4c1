package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What docs/webflux.md lists as different is what the tests of both web stacks leave out on one of them. */
class DifferencesTest {

    private static final Pattern LEFT_OUT = Pattern.compile("@OnlyOn\\([^)]*difference = \"([^\"]*)\"\\)");
    private static final Pattern LISTED = Pattern.compile("\n- \\*\\*(.*?)\\*\\*");

    private static Set<String> named(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1).replace("`", ""))
                .collect(Collectors.toSet());
    }

    @Test
    void differences_thatTestsName_areListed() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "webflux.md"));
        String list = page.split("\n## What differs from Spring MVC\n", 2)[1].split("\n## ", 2)[0];
        StringBuilder tests = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("..", "ratelimit-spring-boot", "src", "starter-tests", "java"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                tests.append(Files.readString(file));
            }
        }

        Set<String> left = named(LEFT_OUT, tests.toString());

        assertThat(left).isNotEmpty();
        assertThat(named(LISTED, list)).containsAll(left);
    }
}
