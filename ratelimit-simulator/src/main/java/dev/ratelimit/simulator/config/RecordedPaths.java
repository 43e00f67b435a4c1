package dev.ratelimit.simulator.config;

import dev.ratelimit.spring.rules.path.PathOverlap;
import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.HttpMethods;
import dev.ratelimit.spring.rules.rule.RequestMatcher;
import java.util.Set;
import java.util.TreeSet;

/**
 * The endpoints of a recording, which has their patterns in place of paths. Patterns of a policy can be decided if they
 * match all paths of an endpoint, or none.
 */
final class RecordedPaths {

    /** What a recording has in place of the paths that lead to no pattern. */
    private static final Set<String> PLACELESS = Set.of("/" + Endpoint.NOWHERE.id(), "/" + Endpoint.UNMAPPED.id());

    private final Set<String> endpoints;
    private final PathOverlap overlap = new PathOverlap(false);

    /**
     * Knows the endpoints.
     *
     * @param endpoints each a method and a path, such as {@code GET /orders/{id}}
     */
    RecordedPaths(Set<String> endpoints) {
        this.endpoints = endpoints;
    }

    /** The endpoints of which it is not known whether the paths of their requests match; empty if all can be decided. */
    Set<String> undecidedBy(RequestMatcher match) {
        Set<String> undecided = new TreeSet<>();
        Set<String> placeless = placelessFor(match);
        boolean matchesAny = false;
        for (String endpoint : endpoints) {
            String path = path(endpoint);
            if (isAbout(match, endpoint) && !PLACELESS.contains(path) && !isExcepted(match, path)) {
                boolean all = match.paths().isEmpty() || match.paths().cover(path);
                boolean open = mayMatch(match.exceptPaths(), path) || (!all && mayMatch(match.paths(), path));
                matchesAny |= all;
                if (open) {
                    undecided.add(path);
                }
            }
        }
        return undecided.isEmpty() && !matchesAny ? placeless : undecided;
    }

    /** The endpoints whose requests may or may not match the patterns, depending on their paths. */
    Set<String> undecidedBy(PathPatterns patterns) {
        Set<String> undecided = new TreeSet<>();
        for (String endpoint : endpoints) {
            String path = path(endpoint);
            boolean may = PLACELESS.contains(path) ? !patterns.isEmpty() : mayMatch(patterns, path);
            if (may && !patterns.areEverything() && !patterns.cover(path)) {
                undecided.add(path);
            }
        }
        return undecided;
    }

    /** What stands for the paths without an endpoint that the policy may be about. */
    Set<String> placelessFor(RequestMatcher match) {
        Set<String> placeless = new TreeSet<>();
        boolean everything = match.paths().isEmpty() || match.paths().areEverything();
        boolean nothing = match.exceptPaths().areEverything();
        if (nothing || (everything && match.exceptPaths().isEmpty())) {
            return placeless;
        }
        for (String endpoint : endpoints) {
            if (PLACELESS.contains(path(endpoint)) && isAbout(match, endpoint)) {
                placeless.add(path(endpoint));
            }
        }
        return placeless;
    }

    private static boolean isExcepted(RequestMatcher match, String path) {
        return match.exceptPaths().cover(path);
    }

    private static String path(String endpoint) {
        return endpoint.substring(endpoint.indexOf(' ') + 1);
    }

    private static boolean isAbout(RequestMatcher match, String endpoint) {
        String method = HttpMethods.seenAs(endpoint.substring(0, endpoint.indexOf(' ')));
        return match.methods().isEmpty() || match.methods().contains(method) || !HttpMethods.ALL.contains(method);
    }

    private boolean mayMatch(PathPatterns patterns, String path) {
        return patterns.texts().stream().anyMatch(pattern -> overlap.exists(pattern, path));
    }
}
