package dev.ratelimit.spring.boot.endpoint;

import dev.ratelimit.spring.rules.path.SegmentWildcards;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.PathContainer.Element;
import org.springframework.http.server.PathContainer.PathSegment;
import org.springframework.web.util.pattern.PathPattern;

/**
 * Finds the patterns that match a path by the segments of the path, in a time that does not depend on the number of
 * other patterns. The patterns themselves decide whether they match, in a step per character; the index only excludes
 * those that cannot. Must not be changed after the first use.
 *
 * @param <T> the target of a pattern
 */
public final class RouteIndex<T> {

    /**
     * A pattern and its target.
     *
     * @param pattern as it was added
     * @param linear matches the same paths in a step per character, except those with an additional separator at the end
     * @param alone the result if no other pattern matches, which is almost always so
     */
    private record Route<T>(PathPattern pattern, PathPattern linear, T target, List<T> alone) {

        @SuppressWarnings("ReferenceEquality") // most patterns are linear themselves
        boolean matches(PathContainer path) {
            return linear.matches(path) || (linear != pattern && matchesLastSeparator(path));
        }

        /** Only the pattern itself knows; it is not asked about paths that it would take long to reject. */
        private boolean matchesLastSeparator(PathContainer path) {
            int last = path.elements().size() - 1;
            return last > 0
                    && !(path.elements().get(last) instanceof PathSegment)
                    && linear.matches(path.subPath(0, last))
                    && pattern.matches(path);
        }
    }

    private static final class Node<T> {
        private final Map<String, Node<T>> literals = new HashMap<>();
        private @Nullable Node<T> wildcard;
        private final List<Route<T>> ending = new ArrayList<>(1);

        /** Routes that can continue in any way. */
        private final List<Route<T>> catchAll = new ArrayList<>(0);
    }

    private final Node<T> root = new Node<>();
    private boolean empty = true;

    /** Adds a pattern. */
    public void add(PathPattern pattern, T target) {
        empty = false;
        Route<T> route = new Route<>(pattern, SegmentWildcards.linear(pattern), target, List.of(target));
        String text = pattern.getPatternString();
        if (!text.startsWith("/") || text.contains("\\")) {
            root.catchAll.add(route);
            return;
        }
        Node<T> node = root;
        for (String segment : text.substring(1).split("/", -1)) {
            if (isCatchAll(segment)) {
                node.catchAll.add(route);
                return;
            }
            node = isLiteral(segment)
                    ? node.literals.computeIfAbsent(fold(segment), key -> new Node<>())
                    : wildcard(node);
        }
        node.ending.add(route);
    }

    private static <T> Node<T> wildcard(Node<T> node) {
        Node<T> next = node.wildcard;
        if (next == null) {
            next = new Node<>();
            node.wildcard = next;
        }
        return next;
    }

    /** Whether it matches several segments or none. */
    private static boolean isCatchAll(String segment) {
        return segment.contains("**") || segment.contains("{*");
    }

    private static boolean isLiteral(String segment) {
        return segment.chars().noneMatch(c -> c == '{' || c == '*' || c == '?' || c == '\\');
    }

    /**
     * The same text for all texts that {@code equalsIgnoreCase} considers equal, as patterns do when they ignore case.
     */
    private static String fold(String text) {
        return isFolded(text)
                ? text
                : text.codePoints()
                        .map(c -> Character.toLowerCase(Character.toUpperCase(c)))
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
    }

    private static boolean isFolded(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= 128 || (c >= 'A' && c <= 'Z')) {
                return false;
            }
        }
        return true;
    }

    /** Whether there is no pattern. */
    public boolean isEmpty() {
        return empty;
    }

    /** Whether a pattern matches. */
    public boolean matchesAny(PathContainer path) {
        return !empty && !find(path, true).isEmpty();
    }

    /** The targets of all matching patterns, in no particular order. */
    public List<T> find(PathContainer path) {
        return empty ? List.of() : find(path, false);
    }

    private List<T> find(PathContainer path, boolean one) {
        return visit(root, path, 0, List.of(), one);
    }

    /** Continues at this element of the path, which is a separator; returns the targets found so far. */
    private List<T> visit(Node<T> node, PathContainer path, int at, List<T> before, boolean one) {
        List<Element> elements = path.elements();
        List<T> found = collect(node.catchAll, path, before);
        // a pattern may match an additional separator at the end
        if (at >= elements.size() - 1 && (at == elements.size() || !(elements.get(at) instanceof PathSegment))) {
            found = collect(node.ending, path, found);
        }
        if (at == elements.size() || (one && !found.isEmpty())) {
            return found;
        }
        int next = elements.get(at) instanceof PathSegment ? at : at + 1;
        boolean segment = next < elements.size() && elements.get(next) instanceof PathSegment;
        String value = segment ? fold(((PathSegment) elements.get(next)).valueToMatch()) : "";
        int after = segment ? next + 1 : next;
        Node<T> literal = node.literals.get(value);
        if (literal != null) {
            found = visit(literal, path, after, found, one);
        }
        return node.wildcard == null ? found : visit(node.wildcard, path, after, found, one);
    }

    private static <T> List<T> collect(List<Route<T>> routes, PathContainer path, List<T> before) {
        List<T> found = before;
        for (int i = 0; i < routes.size(); i++) {
            Route<T> route = routes.get(i);
            if (route.matches(path)) {
                found = found.isEmpty() ? route.alone() : plus(found, route.target());
            }
        }
        return found;
    }

    /** A list of one is that of its route. */
    private static <T> List<T> plus(List<T> found, T target) {
        List<T> several = found.size() == 1 ? new ArrayList<>(found) : found;
        several.add(target);
        return several;
    }
}
