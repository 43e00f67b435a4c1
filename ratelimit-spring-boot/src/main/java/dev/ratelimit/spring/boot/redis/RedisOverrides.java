package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.spring.rules.override.Overrides;
import dev.ratelimit.spring.rules.override.SharedOverrides;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shares the overrides of keys by one key in Redis. There may be thousands, so instances compare digests, and tell each
 * other only those buckets that differ: the script {@code overrides.lua} says how. Used under the lock of
 * {@link RedisChanges}.
 */
final class RedisOverrides implements SharedOverrides {

    private static final Logger log = LoggerFactory.getLogger(RedisOverrides.class);

    private static final int BUCKETS = 256;

    /** The digits of a bucket's digest. */
    private static final int SIZE = 15;

    private static final long MODULUS = 1L << 48;

    /** How many lines one script joins, roughly, so that it does not hold the server up. */
    private static final int LINES = 250;

    /** Runs a script, by its arguments, under the lock. */
    @FunctionalInterface
    interface Scripts {

        /**
         * Runs the script.
         *
         * @throws IllegalStateException if Redis does not answer
         */
        List<String> eval(List<String> arguments);
    }

    /**
     * The lines of a register in their buckets.
     *
     * @param of the register
     * @param texts the lines, by bucket
     * @param digests of all buckets, one after the other
     * @param digest of these; empty if there are no lines
     */
    private record Buckets(Overrides of, List<String> texts, String digests, String digest) {}

    private final String key;
    private final Duration alive;
    private final Scripts scripts;

    /** Of the register that was asked about last, which rarely changes. */
    private @Nullable Buckets last;

    RedisOverrides(String key, Duration alive, Scripts scripts) {
        this.key = key;
        this.alive = alive;
        this.scripts = scripts;
    }

    /** The digest of what an instance knows. */
    String digest(Overrides known) {
        return buckets(known).digest();
    }

    /**
     * Tells what this instance knows and Redis does not, and learns what Redis knows.
     *
     * @return both
     */
    Overrides join(Overrides known) {
        Buckets mine = buckets(known);
        List<String> theirs = ask("COMPARE", known, List.of());
        List<Integer> differing = new ArrayList<>();
        for (int i = 0; i < BUCKETS; i++) {
            int at = i * SIZE;
            if (!mine.digests().regionMatches(at, theirs.get(2), at, SIZE)) {
                differing.add(i);
            }
        }
        Overrides all = known.without(Long.parseLong(theirs.get(0)));
        int from = 0;
        while (from < differing.size()) {
            int to = from;
            List<String> arguments = new ArrayList<>();
            for (int lines = 0; to < differing.size() && lines < LINES; to++) {
                String text = mine.texts().get(differing.get(to));
                arguments.add(Integer.toString(differing.get(to)));
                arguments.add(text);
                // what Redis has may be as much
                lines += 20 + (int) text.lines().count();
            }
            List<String> joined = ask("JOIN", known, arguments);
            Map<Overrides.Key, Overrides.Value> told = new HashMap<>();
            for (int i = from; i < to; i++) {
                told.putAll(read(known, differing.get(i), mine, joined.get(2 + i - from)));
            }
            all = all.and(new Overrides(told, Long.parseLong(joined.get(0))));
            from = to;
        }
        return all;
    }

    /** What a bucket has; if that is of somebody else, replaces it by what this instance knows. */
    private Map<Overrides.Key, Overrides.Value> read(Overrides known, int bucket, Buckets mine, String text) {
        try {
            if (text.lines().anyMatch(line -> bucketOf(nameOf(line)) != bucket)) {
                throw new IllegalArgumentException("an override in another bucket than its own");
            }
            return Overrides.parse(text);
        } catch (IllegalArgumentException e) {
            List<String> unused = ask(
                    "REPLACE",
                    known,
                    List.of(Integer.toString(bucket), mine.texts().get(bucket)));
            return Map.of();
        }
    }

    @Override
    public Answer exchange(Overrides known, Overrides.Key of, Overrides.Value value) {
        String line = Overrides.line(of, value);
        String name = nameOf(line);
        List<String> reply = ask(
                "SET",
                known,
                List.of(
                        digest(known),
                        Long.toString(known.latest() + 1),
                        Integer.toString(bucketOf(name)),
                        name,
                        value.text().isEmpty() ? "" : Long.toString(value.until()),
                        value.text()));
        return reply.get(2).equals("1")
                ? new Answer(known.and(of, value.at(Long.parseLong(reply.get(3)))), true)
                : new Answer(join(known), false);
    }

    private List<String> ask(String operation, Overrides known, List<String> more) {
        List<String> reply = scripts.eval(Stream.concat(
                        Stream.of(key, operation, Long.toString(alive.toMillis()), Long.toString(known.forgotten())),
                        more.stream())
                .toList());
        if (reply.get(1).equals("1")) {
            log.warn(
                    "The key {} in Redis had a value that is none of overrides of rate limits; it was replaced by those that"
                            + " this instance knows. Give the other writer another key, or this application another"
                            + " ratelimit.store.redis.prefix",
                    key);
        }
        return reply;
    }

    @SuppressWarnings("ReferenceEquality") // fast, and equal ones have the same digests anyway
    private Buckets buckets(Overrides known) {
        Buckets before = last;
        if (before != null && before.of() == known) {
            return before;
        }
        StringBuilder[] texts = new StringBuilder[BUCKETS];
        Arrays.setAll(texts, i -> new StringBuilder());
        long[] sums = new long[BUCKETS];
        MessageDigest sha1 = sha1();
        known.values().forEach((of, value) -> {
            String line = Overrides.line(of, value) + "\n";
            int bucket = bucketOf(nameOf(line));
            texts[bucket].append(line);
            byte[] hash = sha1.digest(line.getBytes(StandardCharsets.UTF_8));
            long bits = 0;
            for (int i = 0; i < 6; i++) {
                bits = bits << 8 | (hash[i] & 0xff);
            }
            sums[bucket] = (sums[bucket] + bits) % MODULUS;
        });
        StringBuilder digests = new StringBuilder(BUCKETS * SIZE);
        for (long sum : sums) {
            String digits = Long.toString(sum);
            digests.append("0".repeat(SIZE - digits.length())).append(digits);
        }
        byte[] digest = sha1.digest(digests.toString().getBytes(StandardCharsets.UTF_8));
        Buckets now = new Buckets(
                known,
                Arrays.stream(texts).map(StringBuilder::toString).toList(),
                digests.toString(),
                known.values().isEmpty() ? "" : HexFormat.of().formatHex(digest));
        last = now;
        return now;
    }

    /** The first two words of a line, which say whose override it is. */
    private static String nameOf(String line) {
        return line.substring(0, line.indexOf(' ', line.indexOf(' ') + 1));
    }

    private static int bucketOf(String name) {
        int hash = name.hashCode();
        return (hash ^ hash >>> 16) & BUCKETS - 1;
    }

    private static MessageDigest sha1() {
        try {
            return MessageDigest.getInstance("SHA-1");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("SHA-1 is not available", e);
        }
    }
}
