package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.traffic.Field.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
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

    private final byte[] start;
    private final Field[] fields;

    /** What follows each field. */
    private final byte[][] ends;

    private final boolean[] quoted;
    private final Set<String> names = new LinkedHashSet<>();

    PatternFormat(String pattern, FieldMapping mapping) {
        List<Field> all = new ArrayList<>();
        List<byte[]> texts = new ArrayList<>();
        Matcher variables = VARIABLE.matcher(pattern);
        int at = 0;
        while (variables.find()) {
            texts.add(bytes(pattern.substring(at, variables.start())));
            all.add(fieldOf(variables, mapping));
            String nginx = variables.group("nginx");
            names.add(nginx != null ? nginx : variables.group().replaceFirst("^%[<>]", "%"));
            at = variables.end();
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException("the format '" + pattern
                    + "' has no variables; write combined, common, json, csv, recording or a log format with variables,"
                    + " such as '$remote_addr [$time_local] \"$request\" $status'");
        }
        texts.add(bytes(pattern.substring(at)));
        this.start = texts.get(0);
        this.fields = all.toArray(Field[]::new);
        this.ends = texts.subList(1, texts.size()).toArray(byte[][]::new);
        this.quoted = new boolean[fields.length];
        for (int i = 0; i < fields.length; i++) {
            byte[] before = texts.get(i);
            quoted[i] =
                    before.length > 0 && before[before.length - 1] == '"' && ends[i].length > 0 && ends[i][0] == '"';
            if (i + 1 < fields.length && ends[i].length == 0) {
                throw new IllegalArgumentException("the format '" + pattern
                        + "' has nothing between two variables; write a separator between them");
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
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
    public void read(byte[] line, int from, int to, RequestDraft draft) {
        if (!startsWith(line, from, to, start)) {
            draft.fail("it does not have the format");
            return;
        }
        int at = from + start.length;
        for (int i = 0; i < fields.length; i++) {
            int found = ends[i].length == 0 ? to : endOf(i, line, at, to);
            if (found < 0) {
                draft.fail("it does not have the format");
                return;
            }
            draft.set(fields[i], line, at, found);
            at = found + ends[i].length;
        }
        if (at < to) {
            draft.fail("it is longer than the format");
        }
    }

    private static boolean startsWith(byte[] line, int from, int to, byte[] text) {
        if (from + text.length > to) {
            return false;
        }
        for (int i = 0; i < text.length; i++) {
            if (line[from + i] != text[i]) {
                return false;
            }
        }
        return true;
    }

    /** Where the text after a field begins; -1 if it is not there. */
    private int endOf(int field, byte[] line, int from, int to) {
        byte[] text = ends[field];
        int at = from;
        if (at < to && line[at] == '[' && fields[field].kind() == Kind.TIME) {
            // Apache's times are in brackets, and contain a space
            while (at < to && line[at] != ']') {
                at++;
            }
        }
        for (; at <= to - text.length; at++) {
            if (line[at] == '\\' && quoted[field]) {
                at++;
            } else if (line[at] == text[0] && startsWith(line, at, to, text)) {
                return at;
            }
        }
        return -1;
    }

    @Override
    public Set<Field> fields() {
        Set<Field> all = new HashSet<>(Arrays.asList(fields));
        all.remove(Field.OTHER);
        return all;
    }

    @Override
    public Set<String> names() {
        return names;
    }
}
