package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.reactive.ReactiveKeyResolver;
import dev.ratelimit.spring.reactive.ReactivePlanResolver;
import dev.ratelimit.spring.rules.key.ResolverFailures;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The beans that resolve keys and plans, as far as they answer later. Thread-safe. */
final class ResolverBeans {

    private final ListableBeanFactory beans;
    private final Map<String, Optional<Resolver>> byName = new ConcurrentHashMap<>();
    private final Map<String, ResolverFailures> failures = new ConcurrentHashMap<>();

    private interface Resolver {

        Mono<String> resolve(ServerWebExchange exchange);
    }

    ResolverBeans(ListableBeanFactory beans) {
        this.beans = beans;
    }

    /** Whether all of them answer later, and read the exchange themselves. */
    boolean areAllReactive(Set<String> names) {
        return names.stream().allMatch(name -> of(name) != null);
    }

    private @Nullable Resolver of(String name) {
        return byName.computeIfAbsent(name, this::find).orElse(null);
    }

    private Optional<Resolver> find(String name) {
        for (Class<?> type : new Class<?>[] {KeyResolver.class, PlanResolver.class}) {
            if (beans.containsBean(name) && beans.isTypeMatch(name, type)) {
                Object bean = beans.getBean(name);
                if (bean instanceof ReactiveKeyResolver keys) {
                    return Optional.of(keys::resolve);
                }
                if (bean instanceof ReactivePlanResolver plans) {
                    return Optional.of(plans::resolve);
                }
            }
        }
        return Optional.empty();
    }

    /** What those of them say that answer later. */
    Mono<Map<String, Optional<String>>> ask(Set<String> names, ServerWebExchange exchange) {
        return Flux.fromIterable(names)
                .flatMap(name -> {
                    Resolver resolver = of(name);
                    return resolver == null
                            ? Mono.<Map.Entry<String, Optional<String>>>empty()
                            : ask(name, resolver, exchange).map(answer -> Map.entry(name, answer));
                })
                .collectMap(Map.Entry::getKey, Map.Entry::getValue);
    }

    private Mono<Optional<String>> ask(String name, Resolver resolver, ServerWebExchange exchange) {
        return Mono.defer(() -> resolver.resolve(exchange))
                .map(Optional::of)
                .onErrorResume(Exception.class, failure -> {
                    failures.computeIfAbsent(name, this::failuresOf).add(failure);
                    return Mono.empty();
                })
                .defaultIfEmpty(Optional.empty());
    }

    private ResolverFailures failuresOf(String name) {
        return new ResolverFailures(name, beans.getBeanProvider(Ticker.class).getIfAvailable(Ticker::system));
    }
}
