package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.test.FakeTicker;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/** Rules of these properties, without a web stack, and what may be done with them. */
final class LiveRules extends Operated {

    final FakeTicker ticker;
    final RequestLimiter limiter;
    final RateLimiter own;
    private final RateLimitProperties bound;

    LiveRules(String... properties) {
        this(Map.of(), properties);
    }

    /** In a property, {@code p.} means the policy p. */
    LiveRules(Map<String, Object> beans, String... properties) {
        this(bind(properties), beans, new FakeTicker(), false);
        rules.enforce(RecordedRequest.leadingTo(
                Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse("/orders/{id}"))));
    }

    /** With the handlers of a type, each an endpoint with its name as the path. */
    LiveRules(Class<?> controller, String... properties) {
        this(bind(properties), Map.of(), new FakeTicker(), false);
        Map<String, Endpoint> endpoints = new HashMap<>();
        ReflectionUtils.doWithLocalMethods(controller, method -> {
            String path = "/" + method.getName();
            Endpoint endpoint = Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse(path));
            endpoints.put(path, endpoint);
            rules.add(endpoint, controller, method);
        });
        rules.enforce(new EndpointResolver() {
            @Override
            public Endpoint resolve(WebRequest request) {
                return endpoints.getOrDefault(request.path().value(), Endpoint.NOWHERE);
            }

            @Override
            public boolean mayLeadToAnnotated(WebRequest request) {
                return true;
            }
        });
    }

    private LiveRules(RateLimitProperties bound, Map<String, Object> beans, FakeTicker ticker, boolean showKeys) {
        super(
                new RequestRules(bound, factoryOf(beans), text -> text, limit -> {}),
                InMemoryStore.builder().ticker(ticker).build(),
                ticker,
                showKeys);
        this.bound = bound;
        this.ticker = ticker;
        this.own = new RateLimiter(store, ticker);
        this.limiter = limiter(OutcomeCounter.NONE);
    }

    /** Rules whose events show keys. */
    static LiveRules showingKeys(String... properties) {
        LiveRules live = new LiveRules(bind(properties), Map.of(), new FakeTicker(), true);
        live.rules.enforce(RecordedRequest.leadingTo(Endpoint.NOWHERE));
        return live;
    }

    private static ListableBeanFactory factoryOf(Map<String, Object> beans) {
        return new StaticListableBeanFactory(beans);
    }

    /** A limiter of the same budgets whose requests are counted by this. */
    RequestLimiter limiter(OutcomeCounter outcomes) {
        return new RequestLimiter(
                rules,
                bound,
                new WaitingRequests(rules, store, ticker, ticker),
                OutcomeCounter.of(List.of(limitTrials, outcomes)),
                ticker,
                null);
    }

    static RateLimitProperties bind(String... properties) {
        Map<String, String> map = new HashMap<>();
        Stream.of(properties)
                .map(property -> property.startsWith("p.") ? "ratelimit.policies." + property : property)
                .map(property -> property.split("=", 2))
                .forEach(property -> map.put(property[0], property[1]));
        return new Binder(new MapConfigurationPropertySource(map)).bindOrCreate("ratelimit", RateLimitProperties.class);
    }

    static RecordedRequest get(String path) {
        return new RecordedRequest("GET", path);
    }

    boolean admits(WebRequest request) {
        return !limiter.charge(null, request).isRefused();
    }

    /** How many of these requests are admitted. */
    int admitted(int requests, WebRequest request) {
        return (int) IntStream.range(0, requests).filter(i -> admits(request)).count();
    }
}
