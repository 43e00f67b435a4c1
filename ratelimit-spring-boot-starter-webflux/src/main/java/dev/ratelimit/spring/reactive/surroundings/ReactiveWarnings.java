package dev.ratelimit.spring.reactive.surroundings;

import dev.ratelimit.spring.reactive.filter.RateLimitWebFilter;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.web.filter.reactive.HiddenHttpMethodFilter;
import org.springframework.web.filter.reactive.UrlHandlerFilter;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.adapter.ForwardedHeaderTransformer;

/** Warns about filters and settings of the server that bypass rate limits, and knows what filters of others may do. */
public final class ReactiveWarnings {

    private static final Logger log = LoggerFactory.getLogger(ReactiveWarnings.class);

    private static final String STRATEGY = "server.forward-headers-strategy";
    private static final List<String> LIBRARIES =
            List.of("org.springframework.", "io.micrometer.", "dev.ratelimit.spring.reactive.");

    private final ApplicationContext context;
    private final Environment environment;

    /** Whether there are trusted proxies. */
    private final boolean proxies;

    /**
     * Creates an object that warns about an application.
     *
     * @param proxies whether there are trusted proxies
     */
    public ReactiveWarnings(ApplicationContext context, boolean proxies) {
        this.context = context;
        this.environment = context.getEnvironment();
        this.proxies = proxies;
    }

    /** Whether a filter of the application may know the caller. */
    public static boolean mayAuthenticate(ApplicationContext context) {
        return filters(context).stream()
                .map(filter -> filter.getClass().getName())
                .anyMatch(name -> LIBRARIES.stream().noneMatch(name::startsWith));
    }

    private static List<WebFilter> filters(ApplicationContext context) {
        return context.getBeanProvider(WebFilter.class).orderedStream().toList();
    }

    /** Logs all warnings. */
    public void log() {
        warnOfForwardedHeaders();
        if (comesLater(HiddenHttpMethodFilter.class)) {
            log.warn(
                    "A HiddenHttpMethodFilter changes the methods of requests. Order it before the rate limits (below {}),"
                            + " otherwise its _method parameter bypasses match.methods and the key part endpoint",
                    firstStage());
        }
        if (comesLater(UrlHandlerFilter.class)) {
            log.warn(
                    "A UrlHandlerFilter changes the paths of requests. Order it before the rate limits (below {}),"
                            + " otherwise its paths bypass them",
                    firstStage());
        }
    }

    private int firstStage() {
        return filters(context).stream()
                .filter(RateLimitWebFilter.class::isInstance)
                .mapToInt(filter -> ((RateLimitWebFilter) filter).getOrder())
                .min()
                .orElse(0);
    }

    /** Whether a filter of this type sees requests after the first stage. */
    private boolean comesLater(Class<? extends WebFilter> type) {
        boolean ours = false;
        for (WebFilter filter : filters(context)) {
            ours |= filter instanceof RateLimitWebFilter;
            if (ours && type.isInstance(filter)) {
                return true;
            }
        }
        return false;
    }

    /**
     * If the server replaces the client's address before rate limits see the request, any client can choose its address;
     * they see through Spring's transformer.
     */
    private void warnOfForwardedHeaders() {
        String strategy = environment.getProperty(STRATEGY, "");
        if (strategy.equalsIgnoreCase("framework") && !proxies) {
            log.warn(
                    "{} is framework, but without trusted proxies, rate limits ignore X-Forwarded-For, so all clients"
                            + " behind a proxy share its address. Name your proxies in ratelimit.trusted-proxies",
                    STRATEGY);
        } else if (strategy.equalsIgnoreCase("native")
                || (strategy.isEmpty() && CloudPlatform.getActive(environment) != null)) {
            log.warn(
                    "The server applies X-Forwarded-For from any address before rate limits see the request ({} is native,"
                            + " or implied by the cloud platform). Set it to none, and name your proxies in"
                            + " ratelimit.trusted-proxies",
                    STRATEGY);
        } else if (!proxies && context.getBeanNamesForType(ForwardedHeaderTransformer.class, true, false).length > 0) {
            log.warn(
                    "A ForwardedHeaderTransformer runs before the rate limits, but without trusted proxies, they ignore"
                            + " X-Forwarded-For, so all clients behind a proxy share its address. Name your proxies in"
                            + " ratelimit.trusted-proxies");
        }
    }
}
