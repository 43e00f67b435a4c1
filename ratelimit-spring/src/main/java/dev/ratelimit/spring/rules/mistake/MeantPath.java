package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.path.PathOverlap;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the pattern that was probably meant by one that matches no route. */
public final class MeantPath {

    private final Routes routes;
    private final PathOverlap overlap;
    private final boolean caseSensitive;

    /** Finds patterns that match some of these routes. */
    public MeantPath(Routes routes, boolean caseSensitive) {
        this.routes = routes;
        this.overlap = new PathOverlap(caseSensitive);
        this.caseSensitive = caseSensitive;
    }

    /** The pattern that was probably meant, or {@code null}. */
    public @Nullable String of(String pattern) {
        String asRegex = pattern.replaceAll("/?\\.[*+]$", "/**").replaceAll("\\.[*+]", "*");
        String all = pattern.replaceAll("/\\**$", "") + "/**";
        return Stream.concat(
                        Stream.of(asRegex, all)
                                .filter(other -> !other.equals(pattern) && routes.mayAnswer(other, caseSensitive)),
                        routes.all().stream().map(route -> of(pattern, route.pattern())))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private @Nullable String of(String pattern, String route) {
        List<String> written = PathOverlap.segments(pattern);
        List<String> known = PathOverlap.segments(route);
        return Stream.of(respelt(written, known), extended(written, known), shortened(written, known))
                .flatMap(candidates -> candidates)
                .map(segments -> "/" + String.join("/", segments))
                .filter(candidate -> overlap.exists(candidate, route))
                .findFirst()
                .orElse(null);
    }

    /** With the route's segments in place of those that are spelt almost like them. */
    private Stream<List<String>> respelt(List<String> written, List<String> known) {
        List<String> respelt = new ArrayList<>(written);
        int same = 0;
        for (int i = 0; i < Math.min(written.size(), known.size()); i++) {
            if (isNear(written.get(i), known.get(i))) {
                respelt.set(i, known.get(i));
            }
            same += overlap.ofSegments(respelt.get(i), known.get(i)) ? 1 : 0;
        }
        return same > 0 ? Stream.of(respelt) : Stream.of();
    }

    private static boolean isNear(String written, String known) {
        return PathOverlap.isLiteral(written)
                && PathOverlap.isLiteral(known)
                && !written.equals(known)
                && Spelling.isNear(written.toLowerCase(Locale.ROOT), known.toLowerCase(Locale.ROOT));
    }

    /** With the first segments of the route, such as those of the mapping on the controller's class. */
    private static Stream<List<String>> extended(List<String> written, List<String> known) {
        return IntStream.range(1, Math.max(1, known.size()))
                .filter(end -> known.subList(0, end).stream().allMatch(PathOverlap::isLiteral))
                .filter(end -> startsLike(written, known.subList(end, known.size())))
                .mapToObj(end -> Stream.concat(known.subList(0, end).stream(), written.stream())
                        .toList());
    }

    /** Without the first segments, such as those that a proxy removes. */
    private static Stream<List<String>> shortened(List<String> written, List<String> known) {
        return IntStream.range(1, Math.max(1, written.size()))
                .mapToObj(start -> written.subList(start, written.size()))
                .filter(rest -> startsLike(rest, known));
    }

    private static boolean startsLike(List<String> written, List<String> known) {
        return !written.isEmpty()
                && !known.isEmpty()
                && PathOverlap.isLiteral(known.get(0))
                && written.get(0).equalsIgnoreCase(known.get(0));
    }
}
