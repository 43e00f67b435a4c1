package dev.ratelimit.spring.rules.path;

import dev.ratelimit.spring.rules.text.Quotation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.util.StringUtils;

/** Recognizes other notations in path patterns, which are valid patterns but unlikely to match the intended paths. */
public final class UnmatchablePattern {

    private static final String EXAMPLES = "a path pattern, such as /api/** or /users/{id:[0-9]+}";

    /** Regular expressions, which path patterns cannot contain except in braces, whose content is not checked. */
    private static final Pattern REGULAR_EXPRESSION = Pattern.compile("[\\^|\\\\\\[\\]]|\\$$|(?:^|/)\\.[*+](?=/|$)");

    private static final Pattern ENCODED = Pattern.compile("(?:%[0-9A-Fa-f]{2})+");

    /** Characters with a special meaning in patterns, or that paths contain only percent-encoded. */
    private static final Pattern SPECIAL = Pattern.compile("[/;?#*{}\\uFFFD]");

    private static final List<Notation> NOTATIONS = List.of(
            new Notation(
                    "^/?(?i:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE)\\s+(?=/)",
                    "starts with a method, and patterns match only the path",
                    "",
                    " (methods belong in match.methods)"),
            new Notation("[\\s;|]+(?=/)", "looks like several paths", ", ", " (separate paths by commas)"),
            new Notation(
                    "^/?[A-Za-z][A-Za-z0-9+.-]*://[^/]*",
                    "is a URL, and patterns match only the path below the context path",
                    "",
                    ""),
            new Notation(
                    "\\?[^/?]*=.*",
                    "has a query, and patterns match only the path",
                    "",
                    " (conditions on the query belong in match.when)"),
            new Notation("#.*", "looks as if it had a fragment, which requests do not carry", "", itself("#")),
            new Notation(";[^/]*", "looks as if it had path parameters, which patterns never see", "", itself(";")),
            new Notation(
                    "(?<=/):([A-Za-z_]\\w*)", "looks as if it had a variable in another notation", "{$1}", itself(":")),
            new Notation(
                    "(?<=/)<(?:\\w+:)?([A-Za-z_]\\w*)>?",
                    "looks as if it had a variable in another notation",
                    "{$1}",
                    itself("<")),
            new Notation(
                    "(?<=/)/+|/\\.{1,2}(?=/|$)",
                    "has empty or dot segments, which servers remove from paths",
                    UnmatchablePattern::cleaned,
                    ""),
            new Notation(
                    "%[0-9A-Fa-f]{2}",
                    "is percent-encoded, and patterns match decoded paths", UnmatchablePattern::decoded, ""));

    private UnmatchablePattern() {}

    /**
     * Another notation.
     *
     * @param found recognizes the notation
     * @param reason why it matches no request
     * @param meant the path pattern that was probably meant
     * @param hint where the rest belongs
     */
    private record Notation(Pattern found, String reason, UnaryOperator<String> meant, String hint) {

        Notation(String found, String reason, String replacement, String hint) {
            this(found, reason, text -> text.replaceAll(found, replacement), hint);
        }

        Notation(String found, String reason, UnaryOperator<String> meant, String hint) {
            this(Pattern.compile(found), reason, meant, hint);
        }
    }

    /**
     * Refuses patterns that are probably a mistake.
     *
     * @throws IllegalArgumentException with the pattern that was probably meant
     */
    static void check(String pattern) {
        String outside = withoutBraces(pattern);
        for (Notation notation : NOTATIONS) {
            if (notation.found().matcher(outside).find()) {
                String meant = notation.meant().apply(pattern);
                throw mistake(
                        pattern, notation.reason(), (meant.equals(EXAMPLES) ? meant : rooted(meant)) + notation.hint());
            }
        }
        checkVisible(pattern);
        Matcher expression = REGULAR_EXPRESSION.matcher(outside);
        if (expression.find()) {
            String meant = rooted(pattern.replaceAll("^/?\\^|\\$$", "")
                    .replaceAll("(?:^|/)\\.[*+]$", "/**")
                    .replaceAll("/\\.[*+](?=/)", "/*"));
            boolean clear = !REGULAR_EXPRESSION.matcher(withoutBraces(meant)).find();
            throw mistake(
                    pattern,
                    "looks like a regular expression; path patterns allow those only inside {name:regex}",
                    (clear ? meant : EXAMPLES)
                            + itself(expression.group().replace("/", "").substring(0, 1)));
        }
        if (!pattern.startsWith("/")) {
            throw mistake(pattern, "must start with '/'", rooted(pattern));
        }
    }

    /**
     * Refuses regular expressions with a group that captures: Spring accepts such a pattern, and throws an exception for
     * each path that it compares with it.
     *
     * @param pattern that Spring has parsed
     * @throws IllegalArgumentException with what to write
     */
    static void checkGroups(String pattern) {
        for (String expression : expressions(pattern)) {
            if (Pattern.compile(expression).matcher("").groupCount() > 0) {
                throw new IllegalArgumentException(
                        Quotation.of(pattern)
                                + " has a group in a regular expression, which path patterns cannot have; write (?: in place of (");
            }
        }
    }

    /** The regular expressions of the variables, which Spring finds in the same way. */
    private static List<String> expressions(String pattern) {
        List<String> expressions = new ArrayList<>();
        int depth = 0;
        int colon = -1;
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c == '\\' && colon >= 0) {
                i++;
            } else if (c == '{') {
                depth++;
            } else if (c == ':' && depth == 1 && colon < 0) {
                colon = i;
            } else if (c == '}' && depth > 0 && --depth == 0) {
                if (colon >= 0) {
                    expressions.add(pattern.substring(colon + 1, i));
                }
                colon = -1;
            }
        }
        return expressions;
    }

    private static String itself(String special) {
        return " (to match a literal '" + special + "', write {x:\\" + special + "})";
    }

    private static void checkVisible(String pattern) {
        pattern.codePoints().filter(UnmatchablePattern::isInvisible).findFirst().ifPresent(c -> {
            String visible = pattern.codePoints()
                    .filter(other -> !isInvisible(other))
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString();
            throw mistake(pattern, String.format("has the invisible character U+%04X", c), rooted(visible));
        });
    }

    private static boolean isInvisible(int c) {
        return c != ' '
                && (Character.isISOControl(c) || Character.isSpaceChar(c) || Character.getType(c) == Character.FORMAT);
    }

    private static IllegalArgumentException mistake(String pattern, String reason, String meant) {
        return new IllegalArgumentException(
                Quotation.of(pattern) + " " + reason + "; write " + Quotation.message(meant));
    }

    /** The pattern with a 0 for each variable. */
    public static String withoutBraces(String pattern) {
        StringBuilder outside = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c == '{' && depth++ == 0) {
                outside.append('0');
            }
            if (depth == 0) {
                outside.append(c);
            } else if (c == '}') {
                depth--;
            }
        }
        return outside.toString();
    }

    private static String rooted(String path) {
        return path.startsWith("/") ? path : "/" + path;
    }

    private static String cleaned(String pattern) {
        return StringUtils.cleanPath(pattern.replaceAll("/{2,}", "/"));
    }

    /** The pattern that was probably meant, unless decoding would change its meaning. */
    private static String decoded(String pattern) {
        boolean special = ENCODED.matcher(pattern)
                .results()
                .map(encoded -> StringUtils.uriDecode(encoded.group(), StandardCharsets.UTF_8))
                .anyMatch(text ->
                        SPECIAL.matcher(text).find() || text.codePoints().anyMatch(UnmatchablePattern::isInvisible));
        return special
                ? EXAMPLES
                : StringUtils.uriDecode(pattern.replaceAll("%(?![0-9A-Fa-f]{2})", "%25"), StandardCharsets.UTF_8);
    }
}
