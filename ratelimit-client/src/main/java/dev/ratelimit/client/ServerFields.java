package dev.ratelimit.client;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * What a response says about the server's own limits, whatever the field. Only this class knows the names of the fields
 * that are read.
 *
 * <ul>
 *   <li>{@code Retry-After} of a 429 or 503, in seconds or as a date; it overrules the others
 *   <li>{@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-08 to -10, {@code r} and {@code t}, and {@code a} and
 *       {@code w} as the next draft is expected to name them; never the name of the policy
 *   <li>{@code RateLimit-Remaining} and {@code RateLimit-Reset} of the drafts before, {@code X-RateLimit-…} and
 *       {@code X-Rate-Limit-…}: a reset from 1,000,000,000 on is a time in seconds since the epoch, from
 *       1,000,000,000,000 on in milliseconds, and any other number a delay in seconds
 * </ul>
 *
 * @param remaining the calls that the server will still admit, {@link Long#MAX_VALUE} if it does not say
 * @param resetSeconds when there are more, from now; 0 if it does not say
 * @param retryAfterSeconds when to come back, from now; {@link #ABSENT} if it does not say
 */
record ServerFields(long remaining, long resetSeconds, long retryAfterSeconds) {

    /** Other than 0, which is an answer. */
    static final long ABSENT = -1;

    static final ServerFields NONE = new ServerFields(Long.MAX_VALUE, 0, ABSENT);

    private static final Set<Integer> TRY_LATER = Set.of(429, 503);
    private static final long FIRST_EPOCH_SECOND = 1_000_000_000L;
    private static final long FIRST_EPOCH_MILLI = 1_000_000_000_000L;

    private static final String LIMITS = "ratelimit";
    private static final List<String> OLDER = List.of("ratelimit-", "x-ratelimit-", "x-rate-limit-");
    private static final String REMAINING = "remaining";
    private static final String RESET = "reset";

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
        Instant sent = HttpDates.parse(headers.getFirst(HttpHeaders.DATE));
        Instant from = sent == null ? now : sent;
        String retryAfter = headers.getFirst(HttpHeaders.RETRY_AFTER);
        long wait = TRY_LATER.contains(status) && retryAfter != null ? wait(retryAfter.strip(), from) : ABSENT;
        String age = headers.getFirst(HttpHeaders.AGE);
        boolean cached = age != null && !age.equals("0");
        ServerFields left = cached ? NONE : left(fields, from);
        return new ServerFields(left.remaining, left.resetSeconds, wait);
    }

    /** How long no call should be sent, in seconds, 0 if calls may be sent. */
    long pauseSeconds() {
        return retryAfterSeconds != ABSENT ? retryAfterSeconds : remaining == 0 ? resetSeconds : 0;
    }

    /** The fields that matter, by their names in lower case. */
    private static Map<String, List<String>> relevant(HttpHeaders headers) {
        Map<String, List<String>> fields = new HashMap<>();
        headers.forEach((name, values) -> {
            String field = name.toLowerCase(Locale.ROOT);
            if (field.equals("retry-after")
                    || field.equals(LIMITS)
                    || OLDER.stream().anyMatch(field::startsWith)) {
                fields.computeIfAbsent(field, any -> new ArrayList<>()).addAll(values);
            }
        });
        return fields;
    }

    private static long wait(String retryAfter, Instant from) {
        long seconds = Numbers.seconds(retryAfter);
        if (seconds != Numbers.UNREADABLE) {
            return seconds;
        }
        Instant at = HttpDates.parse(retryAfter);
        return at == null ? ABSENT : Math.max(0, secondsBetween(from, at));
    }

    private static ServerFields left(Map<String, List<String>> fields, Instant from) {
        ServerFields tightest = NONE;
        int characters = 0;
        for (String line : fields.getOrDefault(LIMITS, List.of())) {
            if (characters < FieldList.MAX_LENGTH) {
                for (Map<String, Long> member : FieldList.members(line)) {
                    tightest = tightest.and(of(member));
                }
            }
            characters += Math.min(line.length(), FieldList.MAX_LENGTH);
        }
        for (String prefix : OLDER) {
            long remaining = number(fields.get(prefix + REMAINING));
            if (remaining != Numbers.UNREADABLE) {
                long reset = Math.max(0, number(fields.get(prefix + RESET)));
                tightest = tightest.and(new ServerFields(remaining, delay(reset, from), ABSENT));
            }
        }
        return tightest;
    }

    private static ServerFields of(Map<String, Long> member) {
        Long remaining = member.getOrDefault("r", member.get("a"));
        Long reset = member.getOrDefault("t", member.get("w"));
        return remaining == null ? NONE : new ServerFields(remaining, reset == null ? 0 : reset, ABSENT);
    }

    /** The fewest remaining calls; of those with none, the last to have more. */
    private ServerFields and(ServerFields other) {
        if (remaining == other.remaining) {
            return resetSeconds >= other.resetSeconds ? this : other;
        }
        return remaining < other.remaining ? this : other;
    }

    /** The first number of a field, such as of {@code 10, 10;w=1}. */
    private static long number(@Nullable List<String> lines) {
        if (lines == null) {
            return Numbers.UNREADABLE;
        }
        String line = lines.get(0);
        int end = 0;
        while (end < Math.min(line.length(), FieldList.MAX_LENGTH) && ",;".indexOf(line.charAt(end)) < 0) {
            end++;
        }
        return Numbers.seconds(line.substring(0, end).strip());
    }

    private static long delay(long reset, Instant from) {
        if (reset < FIRST_EPOCH_SECOND) {
            return reset;
        }
        Instant at = reset < FIRST_EPOCH_MILLI ? Instant.ofEpochSecond(reset) : Instant.ofEpochMilli(reset);
        return Math.max(0, secondsBetween(from, at));
    }

    /** Rounded up. */
    private static long secondsBetween(Instant from, Instant to) {
        Duration between = Duration.between(from, to);
        return between.getSeconds() + (between.getNano() > 0 ? 1 : 0);
    }
}
