package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp.Configured;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TimeZone;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.test.system.CapturedOutput;

/**
 * Keeps the applications of {@link AppPerTest} for the next tests, in the order of their last use. A test reconfigures a running
 * application where that is as good as a start: it replaces the policies in its environment, refreshes them as Spring Cloud
 * would, and finds all budgets whole, the wall clock at its start and no requests counted. An application that a test has changed
 * otherwise is closed; a test that leaves something behind that goes on, such as requests that wait or what other applications
 * would read in the JVM, fails.
 *
 * <p>An application whose sources have fields is for one test, unless they are beans that {@link Forgetful forget}, and so is one
 * whose start a test reads in the log.
 */
final class SharedApps implements BeforeEachCallback, AfterEachCallback {

    /** So many applications are kept: more would only take memory. Spring closes the last ones when the JVM ends. */
    private static final int MOST = 4;

    /** How long requests may last that a test has left behind. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Map<Configured, RunningApp> APPS = new LinkedHashMap<>(MOST, 0.75f, true);

    /** An application with this configuration, as good as new. */
    static RunningApp with(Configured wanted) {
        RunningApp kept = APPS.get(wanted.fixed());
        if (kept != null && kept.isUnchanged(PATIENCE) && kept.reconfigure(wanted)) {
            return kept;
        }
        remove(wanted.fixed());
        RunningApp started = RunningApp.start(wanted);
        if (areStateless(wanted.sources())) {
            APPS.put(wanted.fixed(), started);
            closeOldest();
        }
        return started;
    }

    /** Whether the next test may get this application. */
    static boolean keeps(RunningApp app) {
        return APPS.containsValue(app);
    }

    private static boolean areStateless(List<Class<?>> sources) {
        return sources.stream()
                .filter(source -> !Forgetful.class.isAssignableFrom(source))
                .flatMap(source -> Stream.<Class<?>>iterate(source, Objects::nonNull, Class::getSuperclass))
                .filter(type -> type.getName().startsWith("dev.ratelimit."))
                .flatMap(type -> Arrays.stream(type.getDeclaredFields()))
                .allMatch(field -> Modifier.isStatic(field.getModifiers()) || field.isSynthetic());
    }

    /** What each application of the JVM would be started with. */
    private record Jvm(Map<String, String> properties, Locale locale, TimeZone zone) {

        private static final List<String> READ = List.of("ratelimit.", "spring.", "server.", "management.");

        static Jvm now() {
            Map<String, String> properties = System.getProperties().stringPropertyNames().stream()
                    .filter(name -> READ.stream().anyMatch(name::startsWith))
                    .collect(Collectors.toMap(name -> name, System::getProperty));
            return new Jvm(properties, Locale.getDefault(), TimeZone.getDefault());
        }
    }

    private Jvm before = Jvm.now();

    private static void closeOldest() {
        Iterator<RunningApp> apps = APPS.values().iterator();
        while (APPS.size() > MOST) {
            apps.next().close();
            apps.remove();
        }
    }

    private static void remove(Configured fixed) {
        RunningApp removed = APPS.remove(fixed);
        if (removed != null) {
            removed.close();
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        before = Jvm.now();
        ((AppPerTest) context.getRequiredTestInstance()).readsLog =
                List.of(context.getRequiredTestMethod().getParameterTypes()).contains(CapturedOutput.class);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        endApp(context);
        assertThat(Jvm.now()).as("what the test leaves to the next ones").isEqualTo(before);
    }

    private void endApp(ExtensionContext context) {
        RunningApp app = ((AppPerTest) context.getRequiredTestInstance()).app;
        if (app == null) {
            return;
        }
        boolean isKept = false;
        try {
            isKept = keeps(app) && context.getExecutionException().isEmpty() && app.isUnchanged(PATIENCE);
        } finally {
            if (!isKept) {
                APPS.values().remove(app);
                app.close();
            }
        }
    }
}
