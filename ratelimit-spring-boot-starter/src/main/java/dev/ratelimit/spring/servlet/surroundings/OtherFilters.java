package dev.ratelimit.spring.servlet.surroundings;

import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.servlet.filter.DispatchedRequest;
import dev.ratelimit.spring.servlet.filter.RateLimitFilter;
import dev.ratelimit.spring.servlet.filter.RecordingFilter;
import dev.ratelimit.spring.servlet.settlement.SettlementFilter;
import jakarta.servlet.Filter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.servlet.AbstractFilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.boot.web.servlet.ServletContextInitializerBeans;
import org.springframework.context.ApplicationContext;

/** Knows what filters of others may do. */
public final class OtherFilters {

    private static final List<String> LIBRARIES = List.of("org.springframework.", "io.micrometer.");

    private static final List<Class<? extends Filter>> OURS = List.of(
            RateLimitFilter.class,
            RecordingFilter.class,
            SettlementFilter.class,
            DispatchedRequest.OutermostFilter.class);

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
        return filter == null
                || (OURS.stream().noneMatch(ours -> ours.isInstance(filter))
                        && LIBRARIES.stream().noneMatch(filter.getClass().getName()::startsWith));
    }
}
