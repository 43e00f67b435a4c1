package dev.ratelimit.spring.servlet.surroundings;

import dev.ratelimit.spring.boot.version.Boot;
import jakarta.servlet.Filter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.servlet.AbstractFilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.boot.web.servlet.ServletContextInitializerBeans;
import org.springframework.context.ApplicationContext;

/** Knows what filters of others may do. */
public final class OtherFilters {

    private static final List<String> LIBRARIES =
            List.of("org.springframework.", "io.micrometer.", "dev.ratelimit.spring.servlet.");

    private OtherFilters() {}

    /** Whether a filter of the application, or a container that it is deployed in, may know the caller. */
    public static boolean mayAuthenticate(ApplicationContext context) {
        if (!Boot.hasServer(context)) {
            return true;
        }
        for (ServletContextInitializer initializer : new ServletContextInitializerBeans(context)) {
            if (initializer instanceof AbstractFilterRegistrationBean<?> registration
                    && isOther(registration.getFilter())) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOther(@Nullable Filter filter) {
        return filter == null || LIBRARIES.stream().noneMatch(filter.getClass().getName()::startsWith);
    }
}
