package dev.ratelimit.spring.web;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Users;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** However a path is written that an {@code AntPathMatcher} reads, each request has the limit of the handler that answers it. */
@Tag("servers")
@Tag("slow")
class AntHostilePathsTest extends AppPerTest {

    private static final List<String> ANT = List.of(
            "spring.mvc.pathmatch.matching-strategy=ant-path-matcher", "logging.level.org.springframework.web=off");

    private void send(Class<?>... sources) {
        start(
                Stream.concat(Stream.of(HostilePaths.Handlers.class, Functions.class), Stream.of(sources))
                        .toList(),
                ANT,
                HostilePaths.POLICIES);
        HostilePaths.send(app, "");
    }

    static Stream<Class<?>> options() {
        return Stream.of(
                PathOptions.NoFirewall.class,
                PathOptions.LastSlashAndSuffix.class,
                PathOptions.AsWritten.class,
                PathOptions.Blanks.class);
    }

    @ParameterizedTest
    @MethodSource("options")
    void path_hasTheLimitOfItsHandler(Class<?> option) {
        send(option);
    }

    @Tag("nightly")
    @ParameterizedTest
    @MethodSource("options")
    void path_withSpringSecurity_hasTheLimitOfItsHandler(Class<?> option) {
        send(option, RunningApp.WithSecurity.class, Users.class, Chains.OpenToAll.class, PathOptions.NoFirewall.class);
    }
}
