package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.Stage;
import dev.ratelimit.spring.config.RateLimitProperties;
import dev.ratelimit.spring.config.RateLimitProperties.Headers;
import dev.ratelimit.spring.web.Answers;
import dev.ratelimit.spring.web.CorsHeaders;
import dev.ratelimit.spring.web.Outcomes;
import dev.ratelimit.spring.web.ProblemRejectionHandler;
import dev.ratelimit.spring.web.RateLimitFilter;
import dev.ratelimit.spring.web.RateLimitHeaders;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.HttpHeaders;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.CorsConfigurationSource;

/** Makes the filters of the stages, which have all in common but whose rules they enforce. */
final class RateLimitFilters {

    private final ActiveRules rules;
    private final RateLimitStore store;
    private final Answers answers;
    private final Outcomes outcomes;

    RateLimitFilters(ActiveRules rules, RateLimitStore store, Answers answers, Outcomes outcomes) {
        this.rules = rules;
        this.store = store;
        this.answers = answers;
        this.outcomes = outcomes;
    }

    RateLimitFilter at(Stage stage) {
        return new RateLimitFilter(stage, rules::requestRules, store, answers, outcomes);
    }

    /** What callers are told. */
    static Answers answers(
            RateLimitProperties properties,
            ActiveRules rules,
            @Nullable RejectionHandler handler,
            ObjectProvider<CorsConfigurationSource> corsSources) {
        Headers kind = properties.headers();
        RateLimitHeaders headers = new RateLimitHeaders(
                kind == Headers.DRAFT || kind == Headers.BOTH,
                kind == Headers.LEGACY || kind == Headers.BOTH,
                properties.exposeShared());
        RateLimitProperties.Response response = properties.response();
        String millisHeader = properties.retryAfterMillisHeader();
        List<String> exposed = new ArrayList<>(headers.names());
        exposed.add(HttpHeaders.RETRY_AFTER);
        if (millisHeader != null) {
            exposed.add(millisHeader);
        }
        return new Answers(
                headers,
                new CorsHeaders(SingletonSupplier.of(() -> corsSources(corsSources, rules))::obtain, exposed),
                new Answers.Style(response.status(), response.detail(), millisHeader),
                handler != null ? handler : new ProblemRejectionHandler(response.body()));
    }

    /** Those of the application, such as Spring Security's, and then those of the handlers. */
    private static List<CorsConfigurationSource> corsSources(
            ObjectProvider<CorsConfigurationSource> beans, ActiveRules rules) {
        List<CorsConfigurationSource> sources = new ArrayList<>();
        // Spring MVC's own bean asks the handlers, too, and is deprecated
        beans.orderedStream()
                .filter(source -> !source.getClass().getName().startsWith("org.springframework.web.servlet."))
                .forEach(sources::add);
        sources.add(request -> rules.endpoints().corsConfiguration(request));
        return sources;
    }
}
