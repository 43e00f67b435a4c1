package dev.ratelimit.spring;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Leaves out the auto-configurations that a test's application does not use, which are about a third of the cost of a start:
 * those of libraries that no test asks for, and those of the actuator and of Redis in applications without their properties.
 * The sample applications and new ones on each version of Spring Boot start with everything.
 */
final class UsedAutoConfigurations implements AutoConfigurationImportFilter, EnvironmentAware {

    /** Only applications that set this to {@code true} leave something out. */
    static final String PROPERTY = "test.used-auto-configurations-only";

    /** Parts of packages' and classes' names. */
    private static final List<String> UNUSED = List.of(
            ".http.client.",
            ".jta.",
            ".JvmMetrics",
            ".LogbackMetrics",
            ".netty.NettyAuto",
            ".netty.autoconfigure.NettyAuto",
            ".JettyMetrics",
            ".persistence.",
            ".restclient.",
            ".StartupTimeMetrics",
            ".SystemMetrics",
            ".TaskExecutorMetrics",
            ".testcontainers.",
            ".transaction.",
            ".web.client.",
            ".web.reactive.function.client.",
            ".webclient.",
            "springframework.boot.data.autoconfigure.",
            "springframework.boot.autoconfigure.dao.",
            "springframework.boot.autoconfigure.data.web.");

    private static final List<String> ACTUATOR = List.of(".actuate.", ".health.", ".info.");
    private static final List<String> REDIS = List.of(".data.redis.");

    private @Nullable Environment environment;

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
    }

    /** Tells what an application with these properties uses, as properties. */
    static Map<String, Object> of(Stream<String> properties) {
        List<String> all = properties.toList();
        return Map.of(
                PROPERTY,
                // a gateway needs most of them
                all.stream().noneMatch(property -> property.startsWith("spring.cloud.")),
                PROPERTY + ".actuator",
                all.stream().anyMatch(property -> property.startsWith("management.") || property.contains("/actuator")),
                PROPERTY + ".redis",
                all.stream().anyMatch(property -> property.contains("redis")));
    }

    @Override
    public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
        boolean[] used = new boolean[classes.length];
        boolean filters = is(PROPERTY);
        boolean actuator = is(PROPERTY + ".actuator");
        boolean redis = is(PROPERTY + ".redis");
        for (int i = 0; i < classes.length; i++) {
            String name = classes[i];
            used[i] = name == null
                    || !filters
                    || !(contains(name, UNUSED)
                            || (!actuator && isOfActuator(name))
                            || (!redis && contains(name, REDIS)));
        }
        return used;
    }

    /** Meters are used by all. */
    private static boolean isOfActuator(String name) {
        return contains(name, ACTUATOR) && !name.contains("metrics") && !name.contains("observation");
    }

    private static boolean contains(String name, List<String> parts) {
        return parts.stream().anyMatch(name::contains);
    }

    private boolean is(String property) {
        return environment != null && environment.getProperty(property, Boolean.class, false);
    }
}
