package dev.ratelimit.spring.rules.path;

import static dev.ratelimit.Fuzz.refusing;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Fuzz;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.http.server.PathContainer;

class PathPatternsFuzzTest {

    private final Fuzz patterns = Fuzz.of(PathPatternsFuzzTest.class, "patterns.txt");
    private final Fuzz paths = Fuzz.of(PathPatternsFuzzTest.class, "paths.txt");

    private record Covered(PathPatterns some, PathPatterns others) {}

    @Test
    void new_anyPattern_isReadBackOrIsRefused() {
        patterns.run(refusing(text -> {
            PathPatterns read = new PathPatterns(List.of(text), true);

            assertThat(read.texts()).containsExactly(text.strip());
            assertThat(read.areCoveredBy(new PathPatterns(List.of("/**"), true)))
                    .isTrue();
        }));
    }

    @Test
    void areCoveredBy_saysYes_everyPathOfTheOneIsOneOfTheOther() {
        List<PathPatterns> all = new ArrayList<>();
        for (String text : List.of("/", "/**", "/a", "/a/", "/a/*", "/a/**", "/a/*/**", "/a/{id}", "/a/{id:[0-9]+}")) {
            all.add(new PathPatterns(List.of(text), true));
        }
        all.add(new PathPatterns(List.of("/a/{*rest}"), true));
        all.add(new PathPatterns(List.of("/{*rest}"), true));
        all.add(new PathPatterns(List.of("/*/**"), true));
        all.add(new PathPatterns(List.of("/a/b", "/a/?"), true));
        List<Covered> covered = all.stream()
                .flatMap(some -> all.stream().filter(some::areCoveredBy).map(others -> new Covered(some, others)))
                .toList();
        assertThat(covered).hasSizeBetween(2 * all.size(), all.size() * all.size() / 2);
        paths.run(text -> {
            PathContainer path = PathContainer.parsePath(text.replaceAll("%(?![0-9a-fA-F]{2})", ""));
            for (Covered pair : covered) {
                assertThat(!pair.some.matchAny(path) || pair.others.matchAny(path))
                        .as("%s", pair)
                        .isTrue();
            }
        });
    }
}
