package dev.ratelimit.spring;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** Tests, each of which starts its own application, or several one after another. */
public abstract class AppPerTest {

    /** The application that was started last. */
    @SuppressWarnings("NullAway.Init") // each test starts its own
    protected RunningApp app;

    /** Replaces the running application by another one. In a property, {@code p.} means the policy p. */
    protected final RunningApp start(List<Class<?>> sources, String... properties) {
        return start(RunningApp.Server.TOMCAT, sources, properties);
    }

    /** Does the same on this server. */
    protected final RunningApp start(RunningApp.Server server, List<Class<?>> sources, String... properties) {
        stop();
        app = RunningApp.start(
                server,
                sources,
                Arrays.stream(properties)
                        .map(property -> property.startsWith("p.") ? "ratelimit.policies." + property : property)
                        .toArray(String[]::new));
        return app;
    }

    @AfterEach
    final void stop() {
        if (app != null) {
            app.close();
        }
    }
}
