package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.servlet.filter.CorsHeaders;
import dev.ratelimit.spring.servlet.filter.RateLimitFilter;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.CorsConfigurationSource;

/** Creates the filters of the stages, which differ only in their rules. */
final class RateLimitFilters {

    private static final String NAME = RateLimitFilter.class.getName();

    private final RequestLimiter limiter;
    private final ServletPaths paths;
    private final CorsHeaders cors;

    RateLimitFilters(RequestLimiter limiter, ActiveRules rules, ObjectProvider<CorsConfigurationSource> corsSources) {
        this.limiter = limiter;
        this.paths = rules.paths();
        List<String> exposed = new ArrayList<>(limiter.headers());
        exposed.addAll(limiter.refusalHeaders());
        this.cors = new CorsHeaders(SingletonSupplier.of(() -> corsSources(corsSources, rules))::obtain, exposed);
    }

    /** First the sources of the application, such as Spring Security's, then those of the handlers. */
    private static List<CorsConfigurationSource> corsSources(
            ObjectProvider<CorsConfigurationSource> beans, ActiveRules rules) {
        List<CorsConfigurationSource> sources = new ArrayList<>();
        // Spring MVC's own bean also asks the handlers, and is deprecated
        beans.orderedStream()
                .filter(source -> !source.getClass().getName().startsWith("org.springframework.web.servlet."))
                .forEach(sources::add);
        sources.add(request -> rules.endpoints().corsConfiguration(request));
        return sources;
    }

    /** The CORS headers of refusals. */
    CorsHeaders cors() {
        return cors;
    }

    RateLimitFilter ofAllRules() {
        return new RateLimitFilter(NAME, limiter, paths, cors);
    }

    RateLimitFilter beforeSecurity() {
        return new RateLimitFilter(NAME + ".beforeSecurity", limiter.beforeSecurity(), paths, cors);
    }

    RateLimitFilter afterSecurity() {
        return new RateLimitFilter(NAME + ".afterSecurity", limiter.afterSecurity(), paths, cors);
    }
}
