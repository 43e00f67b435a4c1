package dev.ratelimit.spring.servlet.surroundings;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.env.Environment;

/** Warns about filters, servlets and settings of the server that bypass rate limits. */
public final class ServletWarnings {

    private static final Logger log = LoggerFactory.getLogger(ServletWarnings.class);

    private static final String STRATEGY = "server.forward-headers-strategy";

    private final Environment environment;

    /** Whether there are trusted proxies. */
    private final boolean proxies;

    public ServletWarnings(Environment environment, boolean proxies) {
        this.environment = environment;
        this.proxies = proxies;
    }

    /** Controllers in a separate context are not found, nor are their annotations. */
    public void warnOfOtherDispatchers(List<String> servlets) {
        servlets.forEach(servlet -> log.warn(
                "{} is a DispatcherServlet with a context of its own: @RateLimited and @RateLimitExempt have no effect there."
                        + " Limit its paths with a policy (match.paths)",
                servlet));
    }

    /** A filter that changes paths or methods must come before rate limits, which otherwise see the original ones. */
    public void warnOfRewriting(boolean rewritesPaths, boolean rewritesMethods, int firstStage) {
        if (rewritesMethods) {
            log.warn(
                    "A HiddenHttpMethodFilter changes the methods of requests. Order it before the rate limits (below {}),"
                            + " otherwise its _method parameter bypasses match.methods and the key part endpoint",
                    firstStage);
        }
        if (rewritesPaths) {
            log.warn(
                    "A UrlHandlerFilter changes the paths of requests. Order it before the rate limits (below {}),"
                            + " otherwise its paths bypass them",
                    firstStage);
        }
    }

    /**
     * If the container replaces the client's address before rate limits see the request, any client can choose its
     * address.
     */
    public void warnOfContainer() {
        String strategy = environment.getProperty(STRATEGY, "");
        if (strategy.equalsIgnoreCase("framework") && !proxies) {
            log.warn(
                    "{} is framework, but without trusted proxies, rate limits ignore X-Forwarded-For, so all clients"
                            + " behind a proxy share its address. Name your proxies in ratelimit.trusted-proxies",
                    STRATEGY);
        } else if (strategy.equalsIgnoreCase("native")
                || (strategy.isEmpty() && CloudPlatform.getActive(environment) != null)) {
            log.warn(
                    "The container applies X-Forwarded-For from every private address, or from any address, before rate"
                            + " limits see the request ({} is native, or implied by the cloud platform). Set it to none, and"
                            + " name your proxies in ratelimit.trusted-proxies",
                    STRATEGY);
        }
        for (String header :
                List.of("server.tomcat.remoteip.remote-ip-header", "server.tomcat.remoteip.protocol-header")) {
            if (!environment.getProperty(header, "").isBlank()) {
                log.warn(
                        "{} is set, so Tomcat takes the client's address from a header of any private address before rate"
                                + " limits see the request. Remove it, and name your proxies in"
                                + " ratelimit.trusted-proxies",
                        header);
            }
        }
    }

    /** Rate limits see through Spring's filter, which trusts everybody. For the strategy, there is another warning. */
    public void warnOfForwardedHeaderFilter(boolean before) {
        boolean known = environment.getProperty(STRATEGY, "").equalsIgnoreCase("framework");
        if (before && !known && !proxies) {
            log.warn("A ForwardedHeaderFilter runs before the rate limits, but without trusted proxies, they ignore"
                    + " X-Forwarded-For, so all clients behind a proxy share its address. Name your proxies in"
                    + " ratelimit.trusted-proxies");
        }
    }
}
