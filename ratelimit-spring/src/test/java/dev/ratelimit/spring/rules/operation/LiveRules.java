package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.RateLimitStore;
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
import dev.ratelimit.spring.rules.trial.Trials;
import dev.ratelimit.test.FakeTicker;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/** Rules of these properties, without a web stack, and what may be done with them. */
final class LiveRules {

    final FakeTicker ticker = new FakeTicker();
    final RateLimitStore store = InMemoryStore.builder().ticker(ticker).build();
    final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    final RequestRules rules;
    final Trials trials;
    final RateLimitOperations operations;
    final RequestLimiter limiter;
    private final RateLimitProperties bound;
    final RateLimiter own = new RateLimiter(store, ticker);

    LiveRules(String... properties) {
        this(Map.of(), properties);
    }

    /** In a property, {@code p.} means the policy p. */
    LiveRules(Map<String, Object> beans, String... properties) {
        beans.forEach(this.beans::registerSingleton);
        bound = bind(properties);
        rules = new RequestRules(bound, this.beans, text -> text, limit -> {});
        rules.enforce(RecordedRequest.leadingTo(
                Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse("/orders/{id}"))));
        trials = new Trials(rules, ticker);
        operations = new RateLimitOperations(rules, store, ticker, ticker, trials);
        limiter = limiter(OutcomeCounter.NONE);
    }

    /** With the handlers of a type, each an endpoint with its name as the path. */
    LiveRules(Class<?> controller, String... properties) {
        bound = bind(properties);
        rules = new RequestRules(bound, beans, text -> text, limit -> {});
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
        trials = new Trials(rules, ticker);
        operations = new RateLimitOperations(rules, store, ticker, ticker, trials);
        limiter = limiter(OutcomeCounter.NONE);
    }

    /** A limiter of the same budgets whose requests are counted by this. */
    RequestLimiter limiter(OutcomeCounter outcomes) {
        return new RequestLimiter(
                rules,
                bound,
                new WaitingRequests(rules, store, ticker, ticker),
                OutcomeCounter.of(List.of(trials, outcomes)),
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
