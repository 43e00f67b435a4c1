package dev.ratelimit.spring.rules.path;

import dev.ratelimit.spring.rules.text.Spelling;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What answers requests, as far as it is known at the start. Immutable.
 *
 * @param all handlers of Spring MVC and other servlets
 * @param files whether a static file may have a path that this pattern matches
 * @param anything whether something answers that cannot be asked for its paths, so that any pattern may match
 * @param logins whether Spring Security is present, whose filters answer logins and the like
 */
public record Routes(List<Route> all, Predicate<String> files, boolean anything, boolean logins) {

    /**
     * A route.
     *
     * @param methods such as {@code GET}, without {@code HEAD}; empty for all methods
     * @param pattern the paths, as a path pattern relative to the paths of policies
     */
    public record Route(Set<String> methods, String pattern) {

        /** Copies the set. */
        public Route {
            methods = Set.copyOf(methods);
        }

        /** Whether it answers requests of one of these methods; if there are none, of any. */
        public boolean answersAny(Set<String> others) {
            return methods.isEmpty() || others.isEmpty() || others.stream().anyMatch(methods::contains);
        }
    }

    /** Copies the list. */
    public Routes {
        all = List.copyOf(all);
    }

    /** The routes that have a path which the pattern matches. */
    public Stream<Route> matching(String pattern, boolean caseSensitive) {
        PathOverlap overlap = new PathOverlap(caseSensitive);
        return all.stream().filter(route -> overlap.exists(pattern, route.pattern()));
    }

    /** Whether something may answer a path that the pattern matches. */
    public boolean mayAnswer(String pattern, boolean caseSensitive) {
        return mayAnswer(Set.of(), pattern, caseSensitive);
    }

    /** Whether something may answer a request of one of these methods, or of any if there are none, and of such a path. */
    public boolean mayAnswer(Set<String> methods, String pattern, boolean caseSensitive) {
        return anything
                || matching(pattern, caseSensitive).anyMatch(route -> route.answersAny(methods))
                || ((methods.isEmpty() || methods.contains("GET")) && files.test(pattern));
    }

    /** The pattern that was probably meant by one that nothing answers; {@code null} if nothing is similar. */
    public @Nullable String meant(String pattern, boolean caseSensitive) {
        String below = pattern.replaceAll("/?[.*+]*$", "") + "/**";
        if (!below.equals(pattern) && mayAnswer(below, caseSensitive)) {
            return below;
        }
        String end = pattern.replaceAll("^.*?((?:/\\*+)?)$", "$1");
        String path = pattern.substring(0, pattern.length() - end.length());
        return all.stream()
                .flatMap(route -> leadingTo(route.pattern()))
                .filter(known -> areSimilar(path.toLowerCase(Locale.ROOT), known.toLowerCase(Locale.ROOT)))
                .map(known -> known + end)
                .filter(known -> mayAnswer(known, caseSensitive))
                .findFirst()
                .orElse(null);
    }

    /** The path and those above it, such as that of the mapping on a controller's class. */
    private static Stream<String> leadingTo(String path) {
        return IntStream.rangeClosed(1, path.length())
                .filter(end -> end == path.length() || path.charAt(end) == '/')
                .mapToObj(end -> path.substring(0, end));
    }

    /** Whether one lacks the beginning of the other, or their segments are spelt almost alike. */
    private static boolean areSimilar(String written, String known) {
        List<String> one = PathOverlap.segments(written);
        List<String> other = PathOverlap.segments(known);
        return written.endsWith(known)
                || known.endsWith(written)
                || (one.size() == other.size()
                        && IntStream.range(0, one.size()).allMatch(i -> Spelling.isNear(one.get(i), other.get(i))));
    }

    /** The methods of these routes, for messages. */
    public static String methodsOf(Stream<Route> routes) {
        Set<String> methods = new TreeSet<>();
        routes.forEach(route -> methods.addAll(route.methods()));
        return String.join(", ", methods);
    }
}
