package dev.ratelimit.spring.reactive.endpoint;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpMethod;
import org.springframework.util.StringUtils;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.RequestPredicate;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import reactor.core.publisher.Mono;

/** Collects the patterns of functional routes. Where one cannot be seen, it is that of all paths below its prefix. */
final class FunctionVisitor implements RouterFunctions.Visitor {

    /**
     * A route.
     *
     * @param methods empty for all methods
     * @param clear whether nothing but its path and its methods decide
     */
    record Seen(Set<String> methods, String pattern, boolean clear) {}

    static final String EVERY_PATH = "/**";

    private final List<Seen> routes = new ArrayList<>();

    /** The enclosing predicates, the outermost last. */
    private final Deque<Conditions> enclosing = new ArrayDeque<>();

    private FunctionVisitor() {}

    /** The routes of a function, in its order. */
    static List<Seen> routesOf(RouterFunction<?> function) {
        FunctionVisitor visitor = new FunctionVisitor();
        function.accept(visitor);
        return visitor.routes;
    }

    @Override
    public void startNested(RequestPredicate predicate) {
        enclosing.push(Conditions.of(predicate));
    }

    @Override
    public void endNested(RequestPredicate predicate) {
        enclosing.pop();
    }

    @Override
    public void route(RequestPredicate predicate, HandlerFunction<?> handler) {
        Conditions conditions = Conditions.of(predicate);
        add(
                conditions.methods,
                conditions.unclear || conditions.path == null ? EVERY_PATH : conditions.path,
                conditions);
    }

    @Override
    public void resources(Function<ServerRequest, Mono<Resource>> lookup) {
        addUnclear();
    }

    @Override
    public void attributes(Map<String, Object> attributes) {}

    @Override
    public void unknown(RouterFunction<?> function) {
        addUnclear();
    }

    private void addUnclear() {
        Conditions unclear = new Conditions();
        unclear.unclear = true;
        add(Set.of(), EVERY_PATH, unclear);
    }

    private void add(Set<String> methods, String path, Conditions own) {
        StringBuilder prefix = new StringBuilder();
        boolean clear = own.isClear() && own.path != null;
        for (Conditions outer : (Iterable<Conditions>) enclosing::descendingIterator) {
            String outerPath = outer.path == null ? "" : outer.path;
            if (outer.unclear || outerPath.contains("*")) {
                routes.add(new Seen(methods, prefix + EVERY_PATH, false));
                return;
            }
            // a slash at its end remains for what follows
            prefix.append(StringUtils.trimTrailingCharacter(outerPath, '/'));
            clear &= outer.isClear() && outer.methods.isEmpty() && outer.path != null && !outerPath.endsWith("/");
        }
        routes.add(new Seen(methods, prefix + path, clear));
        if (path.isEmpty()) {
            // Spring Framework 7 also finds it there
            routes.add(new Seen(methods, prefix + "/", false));
        }
    }

    /** What the predicate of a route requires. */
    static final class Conditions implements RequestPredicates.Visitor {

        private Set<String> methods = Set.of();
        private @Nullable String path;

        /** Whether the path is not simply required. */
        private boolean unclear;

        /** Whether there are conditions besides path and method. */
        private boolean others;

        static Conditions of(RequestPredicate predicate) {
            Conditions conditions = new Conditions();
            predicate.accept(conditions);
            if (conditions.unclear) {
                conditions.methods = Set.of();
            }
            return conditions;
        }

        boolean isClear() {
            return !unclear && !others;
        }

        @Override
        public void method(Set<HttpMethod> required) {
            others |= !methods.isEmpty();
            methods = required.stream().map(HttpMethod::name).collect(Collectors.toSet());
        }

        @Override
        public void path(String pattern) {
            others |= path != null;
            path = path == null ? pattern : EVERY_PATH;
        }

        @Override
        @SuppressWarnings("removal") // abstract until it is removed
        public void pathExtension(String extension) {
            others = true;
        }

        @Override
        public void header(String name, String value) {
            others = true;
        }

        @Override
        public void queryParam(String name, String value) {
            others = true;
        }

        @SuppressWarnings("MissingOverride") // Spring Framework 7 has added it
        public void version(String version) {
            others = true;
        }

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
        public void unknown(RequestPredicate predicate) {
            others = true;
        }
    }
}
