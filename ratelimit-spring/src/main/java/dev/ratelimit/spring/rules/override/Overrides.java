package dev.ratelimit.spring.rules.override;

import static dev.ratelimit.spring.rules.text.UrlEncoding.decoded;
import static dev.ratelimit.spring.rules.text.UrlEncoding.encoded;

import dev.ratelimit.spring.rules.text.Quotation;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The overrides of single keys that operators have set: a register that instances replicate, like {@link Changes}, with
 * the last override of each key and the moment when that was accepted. Two registers are joined by the later one of each
 * key. Immutable.
 *
 * <p>An override that has ended or was removed is kept for a while, so that an older register does not bring back the one
 * that it replaced. Then it is forgotten, which all instances do by the same moment, so that memory is bounded.
 *
 * @param values by key
 * @param forgotten what ended at this moment or before is not among them, in microseconds since the epoch
 */
public record Overrides(Map<Key, Value> values, long forgotten) {

    /** No overrides. */
    public static final Overrides NONE = new Overrides(Map.of(), 0);

    /** The end of an override that has none, in microseconds: the last one that a script of Redis counts to. */
    static final long NEVER = (1L << 53) - 1;

    private static final Pattern LINE = Pattern.compile("([!-~]+) ([!-~]+) (\\d{1,16}) (\\d{1,16}) ([!-~]*)");

    /**
     * Whose limits an override replaces.
     *
     * @param policy the name of the policy
     * @param key the value that identifies the caller, in its usual spelling
     */
    public record Key(String policy, String key) {}

    /**
     * An override.
     *
     * @param at when it was accepted, in microseconds since the epoch
     * @param until when it ends, or was removed, in microseconds since the epoch
     * @param text encoded; empty if it was removed
     */
    public record Value(long at, long until, String text) implements Comparable<Value> {

        static Value of(long until, String limit, @Nullable String reason, String by) {
            return new Value(
                    0, until, encoded(limit) + "&" + encoded(reason == null ? "" : reason) + "&" + encoded(by));
        }

        /** The value of a key without an override. */
        static Value removed() {
            return new Value(0, 0, "");
        }

        /** The same, accepted at this moment. */
        public Value at(long micros) {
            return new Value(micros, text.isEmpty() ? micros : until, text);
        }

        boolean isInForceAt(long nanos) {
            return !text.isEmpty() && (until == NEVER || nanos < until * 1000);
        }

        /** Throws an exception unless all parts can be read. */
        private void checkEncoding() {
            String unused = limit() + reason() + by();
        }

        /** The limits, as they were written. */
        String limit() {
            return part(0);
        }

        /** Why; empty if nobody said that. */
        String reason() {
            return part(1);
        }

        /** Who has set it. */
        String by() {
            return part(2);
        }

        private String part(int index) {
            String[] parts = text.split("&", -1);
            return index < parts.length ? decoded(parts[index]) : "";
        }

        /**
         * By moment; at the same one, which clocks of two servers may show, by end and by the hash of the text, so that
         * all instances agree, and Redis, which has another order of texts.
         */
        @Override
        public int compareTo(Value other) {
            if (at != other.at || until != other.until) {
                return at != other.at ? Long.compare(at, other.at) : Long.compare(until, other.until);
            }
            return text.equals(other.text) ? 0 : sha1(text).compareTo(sha1(other.text));
        }
    }

    /** Copies the map. */
    public Overrides {
        values = Map.copyOf(values);
    }

    /** When the last of them was accepted, in microseconds; 0 if there are none. */
    public long latest() {
        return values.values().stream().mapToLong(Value::at).max().orElse(0);
    }

    /** Those of them for which this is true. */
    Overrides where(BiPredicate<Key, Value> condition) {
        Map<Key, Value> some = new HashMap<>();
        values.forEach((key, value) -> {
            if (condition.test(key, value)) {
                some.put(key, value);
            }
        });
        return new Overrides(some, forgotten);
    }

    /** Both: the later value of each key. */
    public Overrides and(Overrides other) {
        Map<Key, Value> both = new HashMap<>(values);
        other.values.forEach(
                (key, value) -> both.merge(key, value, (mine, theirs) -> mine.compareTo(theirs) < 0 ? theirs : mine));
        return new Overrides(both, forgotten).without(other.forgotten);
    }

    /** The same, and this one. */
    public Overrides and(Key key, Value value) {
        return and(new Overrides(Map.of(key, value), forgotten));
    }

    /** The same without those that ended at this moment or before, in microseconds. */
    public Overrides without(long endedAt) {
        long horizon = Math.max(forgotten, endedAt);
        if (values.values().stream().allMatch(value -> value.until() > horizon)) {
            return horizon == forgotten ? this : new Overrides(values, horizon);
        }
        Map<Key, Value> kept = new HashMap<>(values);
        kept.values().removeIf(value -> value.until() <= horizon);
        return new Overrides(kept, horizon);
    }

    /** A line of the register, such as {@code per-user alice 1764000000000000 1764003600000000 blocked&&admin}. */
    public static String line(Key key, Value value) {
        return encoded(key.policy()) + " " + encoded(key.key()) + " " + value.at() + " " + value.until() + " "
                + value.text();
    }

    /**
     * Reads {@link #line lines}.
     *
     * @throws IllegalArgumentException if the text is another one
     */
    public static Map<Key, Value> parse(String lines) {
        Map<Key, Value> values = new HashMap<>();
        lines.lines().forEach(line -> {
            Matcher matcher = LINE.matcher(line);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("not an override: " + Quotation.of(line));
            }
            Key key = new Key(decoded(matcher.group(1)), decoded(matcher.group(2)));
            Value value =
                    new Value(Long.parseLong(matcher.group(3)), Long.parseLong(matcher.group(4)), matcher.group(5));
            value.checkEncoding();
            if (!line(key, value).equals(line) || value.at() > NEVER || value.until() > NEVER) {
                throw new IllegalArgumentException("not an override: " + Quotation.of(line));
            }
            values.put(key, value);
        });
        return values;
    }

    /** A line for each key. */
    @Override
    public String toString() {
        return values.entrySet().stream()
                .map(entry -> line(entry.getKey(), entry.getValue()) + "\n")
                .sorted()
                .collect(Collectors.joining());
    }

    private static String sha1(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("SHA-1 is not available", e);
        }
    }
}
