package dev.ratelimit.spring.servlet.endpoint;

import dev.ratelimit.spring.rules.path.Routes.Route;
import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RequestPredicate;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;

/** Collects the patterns of functional routes. Where one cannot be seen, it is that of all paths below its prefix. */
final class FunctionalRoutes implements RouterFunctions.Visitor {

    private static final String BELOW = "/**";

    private final List<Route> routes;

    /** The paths of the enclosing predicates, the outermost last. */
    private final Deque<String> prefixes = new ArrayDeque<>();

    private FunctionalRoutes(List<Route> routes) {
        this.routes = routes;
    }

    /** Adds the routes of a function. */
    static void addTo(List<Route> routes, RouterFunction<?> function) {
        function.accept(new FunctionalRoutes(routes));
    }

    @Override
    public void startNested(RequestPredicate predicate) {
        Conditions conditions = Conditions.of(predicate);
        String path = conditions.unclear ? BELOW : conditions.path;
        prefixes.push(prefix() + (path == null ? "" : path));
    }

    @Override
    public void endNested(RequestPredicate predicate) {
        prefixes.pop();
    }

    @Override
    public void route(RequestPredicate predicate, HandlerFunction<?> handler) {
        Conditions conditions = Conditions.of(predicate);
        add(conditions.methods, conditions.path == null || conditions.unclear ? BELOW : conditions.path);
    }

    @Override
    public void resources(Function<ServerRequest, Optional<Resource>> lookup) {
        add(Set.of(), BELOW);
    }

    @Override
    public void attributes(Map<String, Object> attributes) {}

    @Override
    public void unknown(RouterFunction<?> function) {
        add(Set.of(), BELOW);
    }

    private void add(Set<String> methods, String path) {
        routes.add(new Route(methods, prefix() + path));
    }

    private String prefix() {
        return prefixes.isEmpty() ? "" : prefixes.element();
    }

    /** What the predicate of a route requires. */
    static final class Conditions implements RequestPredicates.Visitor {

        private Set<String> methods = Set.of();
        private @Nullable String path;

        /** Whether the path is not simply required. */
        private boolean unclear;

        static Conditions of(RequestPredicate predicate) {
            Conditions conditions = new Conditions();
            predicate.accept(conditions);
            if (conditions.unclear) {
                conditions.methods = Set.of();
            }
            return conditions;
        }

        @Override
        public void method(Set<HttpMethod> required) {
            methods = required.stream()
                    .map(method -> Endpoint.methodOf(method.name()))
                    .collect(Collectors.toSet());
        }

        @Override
        public void path(String pattern) {
            path = path == null ? pattern : BELOW;
        }

        @Override
        @SuppressWarnings("removal") // abstract until it is removed
        public void pathExtension(String extension) {}

        @Override
        public void header(String name, String value) {}

        @Override
        public void param(String name, String value) {}

        @SuppressWarnings("MissingOverride") // Spring Framework 7 has added it
        public void version(String version) {}

        @Override
        public void startAnd() {}

        @Override
        public void and() {}

        @Override
        public void endAnd() {}

        @Override
        public void startOr() {
            unclear = true;
        }

        @Override
        public void or() {}

        @Override
        public void endOr() {}

        @Override
        public void startNegate() {
            unclear = true;
        }

        @Override
        public void endNegate() {}

        @Override
        public void unknown(RequestPredicate predicate) {}
    }
}
