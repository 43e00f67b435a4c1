package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsCondition;
import dev.ratelimit.spring.boot.autoconfigure.OnRateLimitsEnabled;
import dev.ratelimit.spring.boot.endpoint.RefusalHandlers;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.reactive.RouteLimits;
import dev.ratelimit.spring.reactive.endpoint.Endpoints;
import dev.ratelimit.spring.reactive.endpoint.Found;
import dev.ratelimit.spring.reactive.filter.ChargingHandlerAdapter;
import dev.ratelimit.spring.reactive.filter.RateLimitFilters;
import dev.ratelimit.spring.reactive.filter.RateLimitWebFilter;
import dev.ratelimit.spring.reactive.method.ReactiveCallCharger;
import dev.ratelimit.spring.reactive.method.RefusalHandler;
import dev.ratelimit.spring.reactive.request.ExplainedExchange;
import dev.ratelimit.spring.reactive.request.FactsFetcher;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.reactive.request.ReceivedRequests;
import dev.ratelimit.spring.reactive.request.RouteFinder;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.operation.Explanations;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.rule.WatchedResults;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.cors.reactive.CorsConfigurationSource;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.session.DefaultWebSessionManager;
import org.springframework.web.server.session.WebSessionManager;

/** The filters, either before and after Spring Security or one without it, and what they know of requests. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DispatcherHandler.class)
@Conditional({OnRateLimitsEnabled.class, OnRateLimitsCondition.class})
class RateLimitWebFilterConfiguration {

    /**
     * The name of the only filter, or of the one after Spring Security. Names of beans are long to avoid conflicts with
     * those of the application.
     */
    static final String FILTER = "dev.ratelimit.filter";

    /** The name of the filter before Spring Security, if there are two stages. */
    static final String BEFORE_SECURITY = "dev.ratelimit.filterBeforeSecurity";

    /** The order of Spring Security's filter: WebFluxSecurityConfiguration.WEB_FILTER_CHAIN_FILTER_ORDER. */
    private static final int SECURITY_FILTER_ORDER = -100;

    private static final int DISTANCE = 10;

    /** The name of the bean of Spring Security's filter. */
    private static final String SECURITY_FILTER =
            "org.springframework.security.config.annotation.web.reactive.WebFluxSecurityConfiguration"
                    + ".WebFilterChainFilter";

    @Bean("dev.ratelimit.stack")
    ReactiveStack rateLimitStack(
            ApplicationContext context, RateLimitProperties properties, ObjectProvider<Ticker> ticker) {
        return new ReactiveStack(context, properties, ticker.getIfAvailable(Ticker::system));
    }

    @Bean("dev.ratelimit.receivedRequests")
    static ReceivedRequests rateLimitReceivedRequests() {
        return new ReceivedRequests();
    }

    @Bean("dev.ratelimit.receivedRequestFilter")
    ReceivedRequests.Filter rateLimitReceivedRequestFilter(ObjectProvider<ServerCodecConfigurer> codecs) {
        return new ReceivedRequests.Filter(codecs.getIfAvailable(ServerCodecConfigurer::create));
    }

    @Bean("dev.ratelimit.explainer")
    RequestExplainer rateLimitExplainer(
            ObjectProvider<Explanations> explanations,
            ObjectProvider<RouteFinder> routes,
            ReactiveStack stack,
            ListableBeanFactory beans) {
        return (facts, user, showKeys) -> {
            Endpoints endpoints = stack.endpoints();
            ReactiveWebRequest request = ExplainedExchange.of(facts, user);
            RouteFinder finder = routes.getIfAvailable();
            boolean certain = endpoints.find(request.exchange()).certain();
            List<String> named = finder == null || certain ? List.of() : finder.find(request.exchange());
            return explanations
                    .getObject()
                    .of(
                            beans.containsBean(BEFORE_SECURITY)
                                    ? perhapsLeading(ExplainedExchange.of(facts, null), endpoints)
                                    : null,
                            request.route() == null
                                    ? leading(request, endpoints)
                                    : request.leadingTo(Endpoint.UNMAPPED),
                            named,
                            showKeys);
        };
    }

    /** Before Spring Security, as the filter sees it. */
    private static ReactiveWebRequest perhapsLeading(ReactiveWebRequest request, Endpoints endpoints) {
        ReactiveWebRequest leading = leading(request, endpoints);
        Endpoint endpoint = leading.endpoint();
        return endpoint == null || endpoints.find(request.exchange()).certain()
                ? leading
                : leading.perhapsLeadingTo(endpoint);
    }

    /** The actuator calls its endpoints where they may block, so the request waits for its static file. */
    private static ReactiveWebRequest leading(ReactiveWebRequest request, Endpoints endpoints) {
        ServerWebExchange exchange = request.exchange();
        Found found = endpoints.find(exchange);
        return request.leadingTo(
                found.certain()
                        ? found.endpoint()
                        : endpoints.guess(exchange, found).block());
    }

    @Bean("dev.ratelimit.factsFetcher")
    FactsFetcher rateLimitFactsFetcher(ObjectProvider<WebSessionManager> sessions, ListableBeanFactory beans) {
        return new FactsFetcher(sessions.getIfAvailable(DefaultWebSessionManager::new), beans);
    }

    @Bean("dev.ratelimit.filters")
    RateLimitFilters rateLimitFilters(
            RequestLimiter limiter,
            ReactiveStack stack,
            FactsFetcher fetcher,
            ApplicationContext context,
            ObjectProvider<CorsConfigurationSource> cors) {
        return new RateLimitFilters(
                limiter,
                stack::endpoints,
                fetcher,
                context,
                () -> cors.orderedStream().toList(),
                RequestRecording.among(context.getBeanProvider(OutcomeCounter.class).stream()));
    }

    @Bean("dev.ratelimit.routeLimits")
    RouteLimits rateLimitRouteLimits(RateLimitFilters filters, RateLimitProperties properties) {
        return properties.enabled() ? filters.routes() : policies -> (request, next) -> next.handle(request);
    }

    @Bean("dev.ratelimit.callCharger")
    ReactiveCallCharger rateLimitCallCharger(RequestLimiter limiter, FactsFetcher fetcher, RateLimitStore store) {
        return new ReactiveCallCharger(limiter.calls(), fetcher, () -> !(store instanceof InMemoryStore));
    }

    /** The charger waits for them. */
    @Bean("dev.ratelimit.watchedResults")
    static WatchedResults rateLimitWatchedResults() {
        return ReactiveCallCharger::isLater;
    }

    @Bean("dev.ratelimit.refusalHandler")
    RefusalHandler rateLimitRefusalHandler(
            RequestLimiter limiter, RateLimitFilters filters, ApplicationContext context) {
        return new RefusalHandler(limiter.calls(), filters.cors(), new RefusalHandlers(context));
    }

    @Bean("dev.ratelimit.handlerAdapter")
    ChargingHandlerAdapter rateLimitHandlerAdapter(ObjectProvider<HandlerAdapter> all, RefusalHandler refusals) {
        return new ChargingHandlerAdapter(() -> all.orderedStream().toList(), refusals::first);
    }

    @Bean(FILTER)
    RateLimitWebFilter rateLimitFilter(RateLimitFilters filters, ApplicationContext context) {
        int order = SECURITY_FILTER_ORDER + DISTANCE;
        return context.containsBean(BEFORE_SECURITY) ? filters.afterSecurity(order) : filters.ofAllRules(order);
    }

    @Bean(BEFORE_SECURITY)
    @ConditionalOnBean(name = SECURITY_FILTER)
    RateLimitWebFilter rateLimitFilterBeforeSecurity(RateLimitFilters filters) {
        return filters.beforeSecurity(SECURITY_FILTER_ORDER - DISTANCE);
    }
}
