package dev.ratelimit.spring.boot.endpoint;

import java.util.Collection;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.util.pattern.PathPattern;

/**
 * What the mapping of controllers of a web stack requires of requests.
 *
 * @param <I> the requirements of a route
 * @param <R> a request
 */
public interface RouteConditions<I, R> {

    /** The patterns of a route, the most specific first. */
    Collection<PathPattern> patterns(I route);

    /** The patterns without variables and wildcards, which are paths. */
    Set<String> directPaths(I route);

    /** The methods of a route; empty for all methods. */
    Set<RequestMethod> methods(I route);

    /** Whether the route requires nothing but a path and a method. */
    boolean isPlain(I route);

    /** What of the route matches the request; {@code null} if it does not. */
    @Nullable
    I matching(I route, R request);

    /** Which of two matching routes the mapping prefers. */
    int compare(I one, I other, R request);
}
