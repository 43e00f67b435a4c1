package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Users;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Handlers of one path whose version decides, which Spring Framework 7 has added: each has its own limit. */
@Tag("servers")
class VersionedPathsTest extends AppPerTest {

    private static final List<String> HEADER = List.of(
            "spring.mvc.apiversion.use.header=X-Version",
            "spring.webflux.apiversion.use.header=X-Version",
            "spring.mvc.apiversion.default=1.0",
            "spring.webflux.apiversion.default=1.0",
            "logging.level.org.springframework.web=off");

    private static final List<Class<?>> SECURED =
            List.of(RunningApp.WithSecurity.class, Users.class, Chains.OpenToAll.class, PathOptions.NoFirewall.class);

    /** The same paths, with and without limits. */
    @RestController
    static class Versions {

        @GetMapping(path = "/annotated", version = "1.0")
        String free() {
            return "free";
        }

        @GetMapping(path = "/annotated", version = "2.0")
        @RateLimited(value = "2/hour", key = "ip")
        String limited() {
            return "limited";
        }

        @GetMapping(path = "/by-user", version = "1.0")
        @RateLimited(value = "1/hour", key = "user")
        String once() {
            return "once";
        }

        @GetMapping(path = "/by-user", version = "2.0+")
        @RateLimited(value = "2/hour", key = "user")
        String twice() {
            return "twice";
        }

        @GetMapping(path = "/exempt", version = "1.0")
        @RateLimitExempt
        String exempt() {
            return "exempt";
        }

        @GetMapping(path = "/exempt", version = "2.0")
        String counted() {
            return "counted";
        }

        @GetMapping(path = "/endpoints/{id}", version = "1.0")
        String first() {
            return "first";
        }

        @GetMapping(path = "/endpoints/{name}", version = "2.0")
        String second() {
            return "second";
        }
    }

    private void startWith(List<Class<?>> more, Class<?>... handlers) {
        List<Class<?>> sources = new ArrayList<>(more);
        sources.addAll(List.of(handlers));
        start(sources, HEADER, HostilePaths.POLICIES);
    }

    private void versions(boolean secured) {
        List<Class<?>> sources = new ArrayList<>(List.of(Versions.class));
        sources.addAll(secured ? SECURED : List.of());
        start(
                sources,
                HEADER,
                "p.limit=3/hour",
                "p.key=ip",
                "p.match.paths=/exempt",
                "ratelimit.policies.each.limit=3/hour",
                "ratelimit.policies.each.key=endpoint",
                "ratelimit.policies.each.match.paths=/endpoints/**");
    }

    private List<String> fiveTimes(String path, String version) {
        return IntStream.range(0, 5)
                .mapToObj(i -> app.getAs("alice", path, "X-Version: " + version))
                .map(response -> response.status() == 200 ? response.body() : "" + response.status())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void version_hasTheLimitOfItsHandler(boolean secured) {
        versions(secured);

        assertThat(fiveTimes("/annotated", "2.0")).containsExactly("limited", "limited", "429", "429", "429");
        assertThat(fiveTimes("/annotated", "1.0")).containsOnly("free");
        assertThat(fiveTimes("/by-user", "1.0")).containsExactly("once", "429", "429", "429", "429");
        assertThat(fiveTimes("/by-user", "2.0")).containsExactly("twice", "twice", "429", "429", "429");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void version_thatIsExempt_isTheOnlyOne(boolean secured) {
        versions(secured);

        assertThat(fiveTimes("/exempt", "1.0")).containsOnly("exempt");
        assertThat(fiveTimes("/exempt", "2.0")).containsExactly("counted", "counted", "counted", "429", "429");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void version_isItsOwnEndpoint(boolean secured) {
        versions(secured);

        assertThat(fiveTimes("/endpoints/a", "1.0")).containsExactly("first", "first", "first", "429", "429");
        assertThat(fiveTimes("/endpoints/a", "2.0")).containsExactly("second", "second", "second", "429", "429");
    }

    /** Whatever the framework takes it for. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void version_thatDoesNotExist_isNoWayAround(boolean secured) {
        versions(secured);

        for (String version : List.of("2", "2.0.0", "02.0", " 2.0", "2.0, 1.0", "9.9", "garbage", "-1", "")) {
            assertThat(fiveTimes("/annotated", version))
                    .as(version)
                    .filteredOn("limited"::equals)
                    .hasSizeLessThanOrEqualTo(2);
            app.ticker().advance(Duration.ofHours(2));
        }
    }

    @Tag("slow")
    @Test
    void path_whereVersionsAreUsed_hasTheLimitOfItsHandler() {
        startWith(List.of(HostilePaths.Handlers.class, Functions.class));

        HostilePaths.send(app, "");
    }

    @Tag("slow")
    @Test
    void path_whereVersionsAreUsed_withSpringSecurity_hasTheLimitOfItsHandler() {
        startWith(SECURED, HostilePaths.Handlers.class, Functions.class);

        HostilePaths.send(app, "");
    }
}
