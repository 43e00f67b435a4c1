package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.traffic.Field.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The log formats of nginx, such as {@code $remote_addr [$time_local] "$request" $status}, and those of Apache and
 * Tomcat, such as {@code %h %t "%r" %>s}. A value ends where the text after it begins; in quotes, a backslash escapes
 * quotes.
 */
final class PatternFormat implements LogFormat {

    static final String COMMON = "%h %l %u %t \"%r\" %>s %b";
    static final String COMBINED = COMMON + " \"%{Referer}i\" \"%{User-Agent}i\"";

    private static final Pattern VARIABLE =
            Pattern.compile("\\$\\{?(?<nginx>[a-z][a-z0-9_]*)}?|%[<>]?(?:\\{(?<name>[^}]*)})?(?<apache>[a-zA-Z])");

    private static final Map<String, Kind> APACHE = Map.ofEntries(
            Map.entry("h", Kind.ADDRESS),
            Map.entry("a", Kind.ADDRESS),
            Map.entry("u", Kind.USER),
            Map.entry("t", Kind.TIME),
            Map.entry("r", Kind.REQUEST),
            Map.entry("m", Kind.METHOD),
            Map.entry("U", Kind.PATH),
            Map.entry("q", Kind.QUERY),
            Map.entry("s", Kind.STATUS),
            Map.entry("D", Kind.DURATION),
            Map.entry("T", Kind.DURATION),
            Map.entry("S", Kind.SESSION));

    private static final Map<String, Kind> NGINX = Map.ofEntries(
            Map.entry("remote_addr", Kind.ADDRESS),
            Map.entry("remote_user", Kind.USER),
            Map.entry("time_local", Kind.TIME),
            Map.entry("time_iso8601", Kind.TIME),
            Map.entry("msec", Kind.TIME),
            Map.entry("request", Kind.REQUEST),
            Map.entry("request_method", Kind.METHOD),
            Map.entry("request_uri", Kind.PATH),
            Map.entry("args", Kind.QUERY),
            Map.entry("query_string", Kind.QUERY),
            Map.entry("status", Kind.STATUS),
            Map.entry("request_time", Kind.DURATION));

    /**
     * A variable of the format.
     *
     * @param quoted whether it is in quotes
     * @param end what follows it
     */
    private record Part(Field field, boolean quoted, String end) {}

    private final String start;
    private final List<Part> parts = new ArrayList<>();
    private final Set<String> names = new LinkedHashSet<>();

    PatternFormat(String pattern, FieldMapping mapping) {
        Matcher variables = VARIABLE.matcher(pattern);
        if (!variables.find()) {
            throw new IllegalArgumentException("the format '" + pattern
                    + "' has no variables; write combined, common, json, csv, recording or a log format with variables,"
                    + " such as '$remote_addr [$time_local] \"$request\" $status'");
        }
        start = pattern.substring(0, variables.start());
        boolean more = true;
        for (String before = start; more; before = parts.get(parts.size() - 1).end()) {
            Field field = fieldOf(variables, mapping);
            String nginx = variables.group("nginx");
            names.add(nginx != null ? nginx : variables.group().replaceFirst("^%[<>]", "%"));
            int at = variables.end();
            more = variables.find();
            String end = pattern.substring(at, more ? variables.start() : pattern.length());
            if (more && end.isEmpty()) {
                throw new IllegalArgumentException("the format '" + pattern
                        + "' has nothing between two variables; write a separator between them");
            }
            parts.add(new Part(field, before.endsWith("\"") && end.startsWith("\""), end));
        }
    }

    private static Field fieldOf(Matcher variable, FieldMapping mapping) {
        String nginx = variable.group("nginx");
        String name = variable.group("name");
        if (nginx != null) {
            return mapping.of(nginx, nginx(nginx));
        }
        String letter = variable.group("apache");
        if (letter.equals("T") && name != null) {
            return mapping.of("%{" + name + "}T", Field.of(Kind.DURATION));
        }
        if (name == null || letter.equals("t")) {
            Kind kind = APACHE.getOrDefault(letter, Kind.OTHER);
            return mapping.of("%" + letter, Field.of(kind));
        }
        Field named = switch (letter) {
            case "i" -> new Field(Kind.HEADER, name.toLowerCase(Locale.ROOT));
            case "C", "c" -> new Field(Kind.COOKIE, name);
            case "a" -> Field.of(Kind.ADDRESS);
            default -> Field.OTHER;
        };
        return mapping.of("%{" + name + "}" + letter, named);
    }

    private static Field nginx(String variable) {
        if (variable.startsWith("http_")) {
            return new Field(Kind.HEADER, variable.substring(5).replace('_', '-'));
        }
        if (variable.startsWith("cookie_")) {
            return new Field(Kind.COOKIE, variable.substring(7));
        }
        return Field.of(NGINX.getOrDefault(variable, Kind.OTHER));
    }

    @Override
    public void read(String line, RequestDraft draft) throws UnreadableLineException {
        if (!line.startsWith(start)) {
            throw new UnreadableLineException("it does not have the format");
        }
        int at = start.length();
        for (Part part : parts) {
            int end = part.end().isEmpty() ? line.length() : endOf(part, line, at);
            if (end < 0) {
                throw new UnreadableLineException("it does not have the format");
            }
            if (part.field().kind() != Kind.OTHER) {
                draft.set(part.field(), line.substring(at, end));
            }
            at = end + part.end().length();
        }
        if (at < line.length()) {
            throw new UnreadableLineException("it is longer than the format");
        }
    }

    /** Where the text after a variable begins; -1 if it is not there. */
    private static int endOf(Part part, String line, int from) {
        // Apache's times are in brackets, and contain a space
        boolean bracket = part.field().kind() == Kind.TIME && line.startsWith("[", from);
        int at = bracket ? Math.max(from, line.indexOf(']', from)) : from;
        int end = line.indexOf(part.end(), at);
        while (part.quoted() && end >= 0 && isEscaped(line, at, end)) {
            end = line.indexOf(part.end(), end + 1);
        }
        return end;
    }

    /** Whether an odd number of backslashes is before it. */
    private static boolean isEscaped(String line, int from, int at) {
        int backslashes = 0;
        while (at - backslashes > from && line.charAt(at - backslashes - 1) == '\\') {
            backslashes++;
        }
        return backslashes % 2 == 1;
    }

    @Override
    public Set<Field> fields() {
        Set<Field> all = new HashSet<>();
        parts.forEach(part -> all.add(part.field()));
        all.remove(Field.OTHER);
        return all;
    }

    @Override
    public Set<String> names() {
        return names;
    }
}
