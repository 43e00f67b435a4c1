package dev.ratelimit.spring.rules.path;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Several wildcards in one segment of a path pattern, such as {@code *-*-*.pdf}. Spring tries every way to divide a path
 * among them, which takes a power of its length. The first way is enough, because it leaves the most to the next ones.
 */
public final class SegmentWildcards {

    /** Wildcards and variables for any text, but not those with a regular expression or for several segments. */
    private static final Pattern ANY = Pattern.compile("(?:\\*|\\{[^{}:*]+})+");

    private SegmentWildcards() {}

    /**
     * A pattern that matches the same paths, in a step per character of the path, but none with an additional separator at
     * the end, even if this one does. Its variables are others.
     *
     * @param pattern of any parser with the usual separator
     */
    public static PathPattern linear(PathPattern pattern) {
        String text = pattern.getPatternString();
        String linear = linear(text);
        PathPatternParser parser = new PathPatternParser();
        // a pattern does not tell whether it ignores case, but equals one that does as well
        parser.setCaseSensitive(parser.parse(text).equals(pattern));
        return linear.equals(text) || !parser.parse(text).equals(pattern) ? pattern : parser.parse(linear);
    }

    /** The same pattern, with segments that are matched in a step per character of the path. */
    static String linear(String pattern) {
        String[] segments = pattern.split("/", -1);
        for (int i = 0; i < segments.length; i++) {
            List<String> texts = texts(segments[i]);
            if (texts.size() > 2 && texts.stream().noneMatch(text -> text.contains("{"))) {
                segments[i] = "{$" + i + ":" + regularExpression(texts) + "}";
            }
        }
        return String.join("/", segments);
    }

    /** What is before, between and after the wildcards. */
    private static List<String> texts(String segment) {
        List<String> texts = new ArrayList<>();
        Matcher any = ANY.matcher(segment);
        int from = 0;
        while (any.find()) {
            texts.add(segment.substring(from, any.start()));
            from = any.end();
        }
        texts.add(segment.substring(from));
        return texts;
    }

    /** Finds each text as early as possible and, by an independent group, never again later. */
    private static String regularExpression(List<String> texts) {
        StringBuilder expression = new StringBuilder("(?s)").append(quote(texts.get(0)));
        int last = texts.size() - 1;
        for (String text : texts.subList(1, last)) {
            expression.append("(?>.*?").append(quote(text)).append(')');
        }
        return expression.append(".*").append(quote(texts.get(last))).toString();
    }

    private static String quote(String text) {
        return text.codePoints()
                .mapToObj(c -> c == '?' ? "." : (isPlain(c) ? "" : "\\") + Character.toString(c))
                .collect(Collectors.joining());
    }

    private static boolean isPlain(int c) {
        return c > 127 || Character.isLetterOrDigit(c);
    }
}
