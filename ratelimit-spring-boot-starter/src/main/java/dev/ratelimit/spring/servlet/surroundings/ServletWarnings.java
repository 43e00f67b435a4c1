package dev.ratelimit.spring.servlet.surroundings;

import jakarta.servlet.Filter;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.RegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.web.filter.ForwardedHeaderFilter;
import org.springframework.web.filter.HiddenHttpMethodFilter;
import org.springframework.web.filter.UrlHandlerFilter;
import org.springframework.web.servlet.DispatcherServlet;

/** Warns about filters, servlets and settings of the server that bypass rate limits. */
public final class ServletWarnings {

    private static final Logger log = LoggerFactory.getLogger(ServletWarnings.class);

    private static final String STRATEGY = "server.forward-headers-strategy";

    private final ApplicationContext context;
    private final Environment environment;

    /** Whether there are trusted proxies. */
    private final boolean proxies;

    private final int firstStage;
    private final int lastStage;

    /**
     * Creates an object that warns about an application.
     *
     * @param proxies whether there are trusted proxies
     * @param firstStage the order of the first filter of the rate limits
     * @param lastStage the order of the last one
     */
    public ServletWarnings(ApplicationContext context, boolean proxies, int firstStage, int lastStage) {
        this.context = context;
        this.environment = context.getEnvironment();
        this.proxies = proxies;
        this.firstStage = firstStage;
        this.lastStage = lastStage;
    }

    /** Logs all warnings. */
    public void log() {
        warnOfContainer();
        warnOfRewriting(comesLater(UrlHandlerFilter.class), comesLater(HiddenHttpMethodFilter.class));
        warnOfOtherDispatchers();
        warnOfForwardedHeaderFilter();
    }

    /**
     * Whether a filter of this type sees requests after the first stage. A filter without an order comes last; the
     * order of a registered filter is that of its registration.
     */
    private boolean comesLater(Class<? extends Filter> type) {
        List<FilterRegistrationBean<?>> registered = registrations()
                .filter(registration -> type.isInstance(registration.getFilter()))
                .toList();
        Stream<Ordered> alone = context.getBeansOfType(type, true, false).values().stream()
                .filter(filter -> registered.stream().noneMatch(registration -> registration.getFilter() == filter))
                .map(filter -> filter instanceof Ordered ordered ? ordered : () -> Integer.MAX_VALUE);
        return Stream.concat(registered.stream(), alone).anyMatch(filter -> filter.getOrder() >= firstStage);
    }

    private Stream<FilterRegistrationBean<?>> registrations() {
        return Stream.of(context.getBeanNamesForType(FilterRegistrationBean.class, true, false))
                .map(name -> context.getBean(name, FilterRegistrationBean.class));
    }

    /** Controllers in a separate context are not found, nor are their annotations. */
    private void warnOfOtherDispatchers() {
        otherDispatchers()
                .forEach(servlet -> log.warn(
                        "{} is a DispatcherServlet with a context of its own: @RateLimited and @RateLimitExempt have no effect there."
                                + " Limit its paths with a policy (match.paths)",
                        servlet));
    }

    /** A filter that changes paths or methods must come before rate limits, which otherwise see the original ones. */
    private void warnOfRewriting(boolean rewritesPaths, boolean rewritesMethods) {
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
    private void warnOfContainer() {
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
    private void warnOfForwardedHeaderFilter() {
        boolean known = environment.getProperty(STRATEGY, "").equalsIgnoreCase("framework");
        if (!known && !proxies && forwardsBefore()) {
            log.warn("A ForwardedHeaderFilter runs before the rate limits, but without trusted proxies, they ignore"
                    + " X-Forwarded-For, so all clients behind a proxy share its address. Name your proxies in"
                    + " ratelimit.trusted-proxies");
        }
    }

    /** The servlets of Spring MVC with their own controllers, which are unknown here. */
    private List<String> otherDispatchers() {
        return context.getBeansOfType(ServletRegistrationBean.class, true, false).values().stream()
                .filter(registration -> registration.getServlet() instanceof DispatcherServlet dispatcher
                        && dispatcher.getWebApplicationContext() != null
                        && dispatcher.getWebApplicationContext() != context)
                .map(RegistrationBean::toString)
                .toList();
    }

    /** Whether a filter replaces the client's address before rate limits see the request. */
    private boolean forwardsBefore() {
        boolean registered = registrations()
                .anyMatch(filter ->
                        filter.getFilter() instanceof ForwardedHeaderFilter && filter.getOrder() <= lastStage);
        return registered
                || Stream.of(context.getBeanNamesForType(ForwardedHeaderFilter.class, true, false))
                        .map(name -> context.findAnnotationOnBean(name, Order.class))
                        .anyMatch(order -> order != null && order.value() <= lastStage);
    }
}
