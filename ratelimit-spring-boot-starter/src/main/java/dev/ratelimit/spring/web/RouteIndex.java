package dev.ratelimit.spring.web;

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
 * Finds the patterns that match a path by the path's segments, so that the time it takes does not grow with the number of
 * other patterns. Whether a pattern matches is its own decision; the index only spares asking those that cannot. Not to be
 * changed while it is used.
 *
 * @param <T> what a pattern leads to
 */
final class RouteIndex<T> {

    private record Route<T>(PathPattern pattern, T target) {}

    private static final class Node<T> {
        private final Map<String, Node<T>> literals = new HashMap<>();
        private @Nullable Node<T> wildcard;
        private final List<Route<T>> ending = new ArrayList<>(1);

        /** Those that may go on in any way. */
        private final List<Route<T>> open = new ArrayList<>(0);
    }

    private final Node<T> root = new Node<>();
    private boolean empty = true;

    void add(PathPattern pattern, T target) {
        empty = false;
        Route<T> route = new Route<>(pattern, target);
        String text = pattern.getPatternString();
        if (!text.startsWith("/") || text.contains("\\")) {
            root.open.add(route);
            return;
        }
        Node<T> node = root;
        for (String segment : text.substring(1).split("/", -1)) {
            if (isOpen(segment)) {
                node.open.add(route);
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

    /** Stands for several segments, or none. */
    private static boolean isOpen(String segment) {
        return segment.contains("**") || segment.contains("{*");
    }

    private static boolean isLiteral(String segment) {
        return segment.chars().noneMatch(c -> c == '{' || c == '*' || c == '?' || c == '\\');
    }

    /** The same for all texts that {@code equalsIgnoreCase} takes for one, which is how patterns compare in any case. */
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

    /** Whether some pattern matches. */
    boolean matchesAny(PathContainer path) {
        return !empty && !find(path, true).isEmpty();
    }

    /** What all patterns that match lead to, in no order. */
    List<T> find(PathContainer path) {
        return empty ? List.of() : find(path, false);
    }

    private List<T> find(PathContainer path, boolean one) {
        List<T> found = new ArrayList<>(4);
        visit(root, path, 0, found, one);
        return found;
    }

    /** Goes on at this element of the path, which is a separator. */
    private void visit(Node<T> node, PathContainer path, int at, List<T> found, boolean one) {
        List<Element> elements = path.elements();
        collect(node.open, path, found);
        // a pattern may match with one more separator at the end
        if (at >= elements.size() - 1 && (at == elements.size() || !(elements.get(at) instanceof PathSegment))) {
            collect(node.ending, path, found);
        }
        if (at == elements.size() || (one && !found.isEmpty())) {
            return;
        }
        int next = elements.get(at) instanceof PathSegment ? at : at + 1;
        boolean segment = next < elements.size() && elements.get(next) instanceof PathSegment;
        String value = segment ? fold(((PathSegment) elements.get(next)).valueToMatch()) : "";
        int after = segment ? next + 1 : next;
        Node<T> literal = node.literals.get(value);
        if (literal != null) {
            visit(literal, path, after, found, one);
        }
        if (node.wildcard != null) {
            visit(node.wildcard, path, after, found, one);
        }
    }

    private static <T> void collect(List<Route<T>> routes, PathContainer path, List<T> found) {
        for (int i = 0; i < routes.size(); i++) {
            Route<T> route = routes.get(i);
            if (route.pattern().matches(path)) {
                found.add(route.target());
            }
        }
    }
}
