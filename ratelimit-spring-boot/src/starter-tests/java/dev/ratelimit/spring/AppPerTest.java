package dev.ratelimit.spring;

import dev.ratelimit.spring.RunningApp.Configured;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests, each of which configures its own application, or several one after another. */
@ExtendWith(SharedApps.class)
public abstract class AppPerTest {

    /** The application that was configured last. */
    @SuppressWarnings("NullAway.Init") // each test configures its own
    protected RunningApp app;

    /** Whether the test reads the log, which has what is reported at the start. */
    boolean readsLog;

    /**
     * Replaces the application by another one, as good as new. In a property, {@code p.} means the policy p. If only policies
     * differ from those of an application that runs already, that one is {@linkplain SharedApps reconfigured}.
     */
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
        return start(Configured.of(server, sources, whole(properties)), !readsLog);
    }

    /** Does the same, also for a test that reads the log, if it reads nothing that is reported at the start. */
    protected final RunningApp startShared(List<Class<?>> sources, String... properties) {
        return start(Configured.of(Server.DEFAULT, sources, whole(properties)), true);
    }

    /**
     * Replaces the application by one that starts for this test alone, because the test is about the start or about what
     * applications count since then.
     */
    protected final RunningApp startOwn(List<Class<?>> sources, String... properties) {
        return start(Configured.of(Server.DEFAULT, sources, whole(properties)), false);
    }

    /** Does the same with these properties, and more, which come after them. */
    protected final RunningApp startOwn(List<Class<?>> sources, List<String> properties, String... more) {
        return startOwn(
                sources, Stream.concat(properties.stream(), Stream.of(more)).toArray(String[]::new));
    }

    private RunningApp start(Configured configured, boolean shared) {
        if (app != null && !SharedApps.keeps(app)) {
            app.close();
        }
        app = shared ? SharedApps.with(configured) : RunningApp.start(configured);
        return app;
    }

    private static String[] whole(String[] properties) {
        return Stream.of(properties)
                .map(property -> property.startsWith("p.") ? "ratelimit.policies." + property : property)
                .toArray(String[]::new);
    }
}
