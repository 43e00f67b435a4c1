package dev.ratelimit.spring;

import dev.ratelimit.memory.InMemoryStore;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;

/** Tests, each of which starts its own application, several one after another, or shares one with the next test. */
public abstract class AppPerTest {

    /** An application, and what it was started with. */
    private record Shared(RunningApp app, List<Object> configuration) {}

    private static @Nullable Shared shared;

    /** The application that was started last. */
    @SuppressWarnings("NullAway.Init") // each test starts its own
    protected RunningApp app;

    /** Replaces the running application by another one. In a property, {@code p.} means the policy p. */
    protected final RunningApp start(List<Class<?>> sources, String... properties) {
        return start(Server.DEFAULT, sources, properties);
    }

    /** Does the same with these properties, and more, which come after them. */
    protected final RunningApp start(List<Class<?>> sources, List<String> properties, String... more) {
        return start(
                sources, Stream.concat(properties.stream(), Stream.of(more)).toArray(String[]::new));
    }

    /** Does the same on this server. */
    protected final RunningApp start(Server server, List<Class<?>> sources, String... properties) {
        stop();
        app = RunningApp.start(server, sources, whole(properties));
        return app;
    }

    private static String[] whole(String[] properties) {
        return Arrays.stream(properties)
                .map(property -> property.startsWith("p.") ? "ratelimit.policies." + property : property)
                .toArray(String[]::new);
    }

    /**
     * Like {@link #start}, but keeps the application for the next test that shares the same one, to which all budgets are
     * whole again. Its beans and meters remember the tests before.
     */
    protected final RunningApp share(List<Class<?>> sources, String... properties) {
        return share(Server.DEFAULT, sources, properties);
    }

    /** Does the same on this server. */
    protected final RunningApp share(Server server, List<Class<?>> sources, String... properties) {
        List<Object> configuration = List.of(server, sources, List.of(properties));
        Shared former = shared;
        if (former == null || !former.configuration.equals(configuration)) {
            closeShared();
            former = new Shared(RunningApp.start(server, sources, whole(properties)), configuration);
            shared = former;
        }
        app = former.app;
        app.bean(InMemoryStore.class).clear();
        return app;
    }

    @AfterEach
    final void stop() {
        if (app != null && (shared == null || app != shared.app)) {
            app.close();
        }
    }

    @AfterAll
    static void closeShared() {
        if (shared != null) {
            shared.app.close();
            shared = null;
        }
    }
}
