package dev.ratelimit.spring.reactive.endpoint;

import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.http.server.PathContainer;
import org.springframework.web.reactive.resource.ResourceHandlerUtils;
import org.springframework.web.reactive.resource.ResourceResolver;
import org.springframework.web.reactive.resource.ResourceResolverChain;
import org.springframework.web.reactive.resource.ResourceWebHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;
import reactor.core.publisher.Mono;

/**
 * Distinguishes static files from paths without a handler, as WebFlux's handler of static files will.
 *
 * @param handler serves them
 * @param pattern leads to it
 */
record StaticFiles(ResourceWebHandler handler, PathPattern pattern) {

    /** {@link Endpoint#UNMAPPED} if there is a file with this path, otherwise {@link Endpoint#NOWHERE}. */
    Mono<Endpoint> endpointOf(ServerWebExchange exchange, PathContainer path) {
        String within = ResourceHandlerUtils.normalizeInputPath(
                pattern.extractPathWithinPattern(path).value());
        if (ResourceHandlerUtils.shouldIgnoreInputPath(within)) {
            return Mono.just(Endpoint.NOWHERE);
        }
        return new Chain(handler.getResourceResolvers())
                .resolveResource(exchange, within, handler.getLocations())
                .map(found -> Endpoint.UNMAPPED)
                .defaultIfEmpty(Endpoint.NOWHERE);
    }

    /** The most specific pattern that leads a path to a handler; {@code null} if there is none. */
    static Map.@Nullable Entry<PathPattern, Object> best(Map<PathPattern, Object> handlers, PathContainer path) {
        return handlers.entrySet().stream()
                .filter(entry -> entry.getKey().matches(path))
                .min(Map.Entry.comparingByKey(PathPattern.SPECIFICITY_COMPARATOR))
                .orElse(null);
    }

    /** The remaining resolvers; each calls the next. */
    private record Chain(List<ResourceResolver> resolvers) implements ResourceResolverChain {

        @Override
        public Mono<Resource> resolveResource(
                @Nullable ServerWebExchange exchange, String path, List<? extends Resource> locations) {
            return resolvers.isEmpty()
                    ? Mono.empty()
                    : resolvers.get(0).resolveResource(exchange, path, locations, rest());
        }

        @Override
        public Mono<String> resolveUrlPath(String path, List<? extends Resource> locations) {
            return resolvers.isEmpty() ? Mono.empty() : resolvers.get(0).resolveUrlPath(path, locations, rest());
        }

        private Chain rest() {
            return new Chain(resolvers.subList(1, resolvers.size()));
        }
    }
}
