package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.RateLimited;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Applications whose paths an {@code AntPathMatcher} reads: its patterns and its paths count, and not ours. */
@Tag("servers")
class AntPathsTest extends AppPerTest {

    @RestController
    static class Files {

        @GetMapping("/files/**/export")
        @RateLimited("2/hour")
        String export() {
            return "export";
        }

        @GetMapping("/files/**/import")
        String imports() {
            return "import";
        }

        @GetMapping("/api/u/{id}")
        String user(@PathVariable String id) {
            return id;
        }

        @GetMapping("/api/v/{id}")
        @RateLimited(value = "2/hour", key = "path:id")
        String annotated(@PathVariable String id) {
            return id;
        }
    }

    /** What Spring Framework 6 still has, and 7 has not. */
    @Configuration(proxyBeanMethods = false)
    static class Lenient implements WebMvcConfigurer {

        @Override
        public void configurePathMatch(PathMatchConfigurer configurer) {
            for (String option : List.of("setUseTrailingSlashMatch", "setUseSuffixPatternMatch")) {
                Method setter = Objects.requireNonNull(
                        ReflectionUtils.findMethod(PathMatchConfigurer.class, option, Boolean.class));
                ReflectionUtils.invokeMethod(setter, configurer, true);
            }
        }
    }

    static boolean canBeLenient() {
        return ReflectionUtils.findMethod(PathMatchConfigurer.class, "setUseTrailingSlashMatch", Boolean.class) != null;
    }

    private void startWithAnt(List<Class<?>> sources, String... properties) {
        start(sources, List.of("spring.mvc.pathmatch.matching-strategy=ant-path-matcher"), properties);
    }

    private List<Integer> statuses(String... paths) {
        return Stream.of(paths).map(path -> app.get(path).status()).toList();
    }

    @Test
    void pattern_thatOnlyAntReads_isAnEndpointOfItsOwn() {
        startWithAnt(List.of(Files.class), "p.limit=3/hour", "p.key=endpoint", "p.match.paths=/files/**");

        assertThat(statuses("/files/a/export", "/files/export", "/files/a/b/export"))
                .containsExactly(200, 200, 429);
        assertThat(statuses("/files/a/import", "/files/import", "/files/a/b/import", "/files/import"))
                .containsExactly(200, 200, 200, 429);
    }

    @Test
    void variable_isTheOneThatTheHandlerGets_howeverThePathIsWritten() {
        startWithAnt(List.of(Files.class), "p.limit=2/hour", "p.key=path:id", "p.missing-key=skip");

        assertThat(statuses("/api/u/7", "/api//u/7", "/api/u//7", "//api/u/7", "/api/u/7;x"))
                .containsExactly(200, 200, 429, 429, 429);
        assertThat(statuses("/api//u/8")).containsExactly(200);
    }

    @Test
    @EnabledIf("canBeLenient")
    void handler_withASlashOrASuffix_hasItsLimits() {
        startWithAnt(List.of(Files.class, Lenient.class), "p.limit=2/hour", "p.match.paths=/api/u/7");

        assertThat(statuses("/api/v/7", "/api/v/7/", "/api/v/7.json", "/api/v/7/"))
                .containsExactly(200, 200, 429, 429);
        assertThat(statuses("/files/export", "/files/export/", "/files/export.json", "/files/export/"))
                .containsExactly(200, 200, 429, 429);
        assertThat(statuses("/api/u/7", "/api/u/7/", "/api/u/7/", "/api/u/7.json", "/api/u/7%2ex;y"))
                .containsExactly(200, 200, 429, 429, 429);
    }

    @Test
    void variable_ofAnAnnotation_likewise() {
        startWithAnt(List.of(Files.class), "p.limit=100/hour");

        assertThat(statuses("/api/v/7", "/api//v/7", "/api/v//7", "//api/v/7")).containsExactly(200, 200, 429, 429);
    }
}
