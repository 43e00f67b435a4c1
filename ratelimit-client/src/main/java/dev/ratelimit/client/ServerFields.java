package dev.ratelimit.client;

import java.math.RoundingMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * What a response says about the server's own limits, whatever the field. Only this class knows the names of the fields
 * that are read, and only {@link Times} how servers write a time.
 *
 * <ul>
 *   <li>{@code Retry-After} of a refusal and its likes, the longest of all; it overrules the others
 *   <li>{@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-08 to -10, {@code r} and {@code t}, and {@code a} and
 *       {@code w} as the next draft is expected to name them; never the name of the policy; and of -07, {@code remaining}
 *       and {@code reset}
 *   <li>{@code RateLimit-Remaining} and {@code RateLimit-Reset} of the drafts before, and what servers call alike
 * </ul>
 *
 * @param remaining the calls that the server will still admit, {@link Long#MAX_VALUE} if it does not say
 * @param resetSeconds when there are more, from now; 0 if it does not say, and 1 if what it says cannot be read
 * @param retryAfterSeconds when to come back, from now; {@link #ABSENT} if it does not say
 */
record ServerFields(long remaining, long resetSeconds, long retryAfterSeconds) {

    /** Other than 0, which is an answer. */
    static final long ABSENT = Numbers.UNREADABLE;

    static final ServerFields NONE = new ServerFields(Long.MAX_VALUE, 0, ABSENT);

    /** GitHub refuses with 403, too. */
    private static final Set<Integer> TRY_LATER = Set.of(403, 429, 503);

    private static final String LIMITS = "ratelimit";
    private static final Pattern RETRY_AFTER = Pattern.compile("(?:x-)?(?:ms-)?(?:rate-?limit-)?retry-after(?:-.+)?");
    private static final Pattern MILLIS = Pattern.compile(".+-(?:ms|milliseconds)");
    private static final Pattern REMAINING =
            Pattern.compile("(?:anthropic-|x-)?rate-?limit-(?:requests-|user|client)?remaining(?:-.+)?");

    /** What stands in the name of a reset for {@code remaining}; a delay first, as it needs no clock. */
    private static final List<String> RESETS = List.of("reset-after", "reset", "resettime", "next");

    /** More than any honest response has, names and values together. */
    private static final int MAX_LENGTH = 8_192;

    /** Also more than any has, since servers write times in so many ways that one that cannot be read takes a while. */
    private static final int MAX_VALUES = 100;

    /** Between the values of a field, not within a date. */
    private static final Pattern COMMA = Pattern.compile(",(?!\\s*\\d{1,2}[ -]\\p{Alpha}{3})");

    /**
     * Reads the fields of a response.
     *
     * @param now for servers that send a time but no {@code Date}
     */
    static ServerFields of(int status, HttpHeaders headers, Instant now) {
        Map<String, List<String>> fields = relevant(headers);
        if (fields.isEmpty()) {
            return NONE;
        }
        Instant sent = Times.date(headers.getFirst(HttpHeaders.DATE));
        Instant from = sent == null ? now : sent;
        String age = headers.getFirst(HttpHeaders.AGE);
        boolean cached = age != null && !age.equals("0");
        ServerFields left = cached ? NONE : listed(fields, from).and(named(fields, from));
        long retryAfter = TRY_LATER.contains(status) ? retryAfter(fields, from) : ABSENT;
        return new ServerFields(left.remaining, left.resetSeconds, retryAfter);
    }

    /** How long no call should be sent, in seconds, 0 if calls may be sent. */
    long pauseSeconds() {
        return retryAfterSeconds != ABSENT ? retryAfterSeconds : remaining == 0 ? resetSeconds : 0;
    }

    /** The lines of the fields that may matter, by their names in lower case; without those that would be too many. */
    private static Map<String, List<String>> relevant(HttpHeaders headers) {
        Map<String, List<String>> fields = new HashMap<>();
        long[] sum = new long[2];
        headers.forEach((name, lines) -> {
            String field = name.toLowerCase(Locale.ROOT);
            if (field.contains("retry-after") || field.contains(LIMITS) || field.contains("rate-limit")) {
                for (String line : lines) {
                    long characters = sum[0] + field.length() + line.length();
                    long values =
                            sum[1] + 1 + line.chars().filter(c -> c == ',').count();
                    if (characters <= MAX_LENGTH && values <= MAX_VALUES) {
                        sum[0] = characters;
                        sum[1] = values;
                        fields.computeIfAbsent(field, any -> new ArrayList<>()).add(line);
                    }
                }
            }
        });
        return fields;
    }

    private static long retryAfter(Map<String, List<String>> fields, Instant from) {
        long longest = ABSENT;
        for (Map.Entry<String, List<String>> field : fields.entrySet()) {
            if (RETRY_AFTER.matcher(field.getKey()).matches()) {
                boolean millis = MILLIS.matcher(field.getKey()).matches();
                for (String value : values(field.getValue())) {
                    long wait = millis ? Numbers.of(value, 3, RoundingMode.CEILING) : Times.wait(value, from);
                    longest = Math.max(longest, wait);
                }
            }
        }
        return longest;
    }

    /** What {@code RateLimit} says: of draft 7 a dictionary, since then a list. */
    private static ServerFields listed(Map<String, List<String>> fields, Instant from) {
        ServerFields tightest = NONE;
        for (String line : fields.getOrDefault(LIMITS, List.of())) {
            Map<String, String> dictionary = new HashMap<>();
            for (Map<String, String> member : FieldList.members(line)) {
                tightest = tightest.and(of(either(member, "r", "a"), either(member, "t", "w"), from));
                dictionary.putAll(member);
            }
            tightest = tightest.and(of(dictionary.get("remaining"), dictionary.get("reset"), from));
        }
        return tightest;
    }

    private static @Nullable String either(Map<String, String> member, String name, String next) {
        String value = member.get(name);
        return value == null ? member.get(next) : value;
    }

    /** What fields with a name of their own for each number say. */
    private static ServerFields named(Map<String, List<String>> fields, Instant from) {
        ServerFields tightest = NONE;
        for (Map.Entry<String, List<String>> field : fields.entrySet()) {
            if (REMAINING.matcher(field.getKey()).matches()) {
                List<String> remaining = values(field.getValue());
                List<String> resets = resets(fields, field.getKey());
                for (int i = 0; i < remaining.size(); i++) {
                    String reset = resets.isEmpty() ? null : resets.get(Math.min(i, resets.size() - 1));
                    tightest = tightest.and(of(remaining.get(i), reset, from));
                }
            }
        }
        return tightest;
    }

    private static List<String> resets(Map<String, List<String>> fields, String remaining) {
        return RESETS.stream()
                .map(reset -> fields.get(remaining.replace("remaining", reset)))
                .filter(Objects::nonNull)
                .findFirst()
                .map(ServerFields::values)
                .orElse(List.of());
    }

    private static ServerFields of(@Nullable String remaining, @Nullable String reset, Instant from) {
        long calls = remaining == null ? Numbers.UNREADABLE : Numbers.of(remaining, 0, RoundingMode.FLOOR);
        if (calls == Numbers.UNREADABLE) {
            return NONE;
        }
        long wait = reset == null ? 0 : Times.wait(reset, from);
        return new ServerFields(calls, wait == Numbers.UNREADABLE ? 1 : wait, ABSENT);
    }

    /** The fewest remaining calls; of those with none, the last to have more. */
    private ServerFields and(ServerFields other) {
        if (remaining == other.remaining) {
            return resetSeconds >= other.resetSeconds ? this : other;
        }
        return remaining < other.remaining ? this : other;
    }

    /** The values of a field that may be on several lines, or several on one, without parameters. */
    private static List<String> values(List<String> lines) {
        return COMMA.splitAsStream(String.join(",", lines))
                .map(value -> value.substring(0, value.indexOf(';') < 0 ? value.length() : value.indexOf(';')))
                .map(String::strip)
                .toList();
    }
}
