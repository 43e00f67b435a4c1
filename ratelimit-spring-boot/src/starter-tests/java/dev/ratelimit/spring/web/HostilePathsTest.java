package dev.ratelimit.spring.web;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.Users;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** However a path is written, each request has the limit of the handler that answers it. */
@Tag("servers")
class HostilePathsTest extends AppPerTest {

    private static final List<Class<?>> OPEN = List.of(HostilePaths.Handlers.class, Functions.class);

    /** Behind Spring Security, which lets everything pass: usually it refuses most. */
    private static final List<Class<?>> SECURED = List.of(
            HostilePaths.Handlers.class,
            Functions.class,
            RunningApp.WithSecurity.class,
            Users.class,
            Chains.OpenToAll.class,
            PathOptions.NoFirewall.class);

    /** Without a line for each path that is not one. */
    private static final List<String> QUIET = List.of("logging.level.org.springframework.web=off");

    private void send(List<Class<?>> sources, Class<?>... more) {
        start(Stream.concat(sources.stream(), Stream.of(more)).toList(), QUIET, HostilePaths.POLICIES);
        HostilePaths.send(app, "");
    }

    @Test
    void path_hasTheLimitOfItsHandler() {
        send(OPEN);
    }

    @Test
    void path_withSpringSecurity_hasTheLimitOfItsHandler() {
        send(SECURED);
    }

    /** More ways to configure paths and mappings. */
    static Stream<Class<?>> options() {
        return Stream.of(PathOptions.CaseBlind.class, PathOptions.LastSlash.class, PathOptions.Unreadable.class);
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("options")
    void path_inOtherMappings_hasTheLimitOfItsHandler(Class<?> option) {
        send(OPEN, option);
    }

    @Tag("nightly")
    @ParameterizedTest
    @MethodSource("options")
    void path_inOtherMappings_withSpringSecurity_hasTheLimitOfItsHandler(Class<?> option) {
        send(SECURED, option);
    }

    static Stream<Server> otherServers() {
        return Stream.of(Server.values()).filter(server -> server != Server.DEFAULT);
    }

    /** Servers read paths before anybody else does. */
    @Tag("slow")
    @ParameterizedTest
    @MethodSource("otherServers")
    void path_onOtherServers_hasTheLimitOfItsHandler(Server server) {
        start(
                server,
                OPEN,
                Stream.concat(QUIET.stream(), Stream.of(HostilePaths.POLICIES)).toArray(String[]::new));

        HostilePaths.send(app, "");
    }

    @Tag("slow")
    @Test
    void path_belowThatOfTheApplication_hasTheLimitOfItsHandler() {
        start(
                OPEN,
                List.of("server.servlet.context-path=/shop", "spring.webflux.base-path=/shop", QUIET.get(0)),
                HostilePaths.POLICIES);

        HostilePaths.send(app, "/shop");
    }
}
