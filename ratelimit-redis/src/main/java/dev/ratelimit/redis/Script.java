package dev.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The script that decides limits of certain algorithms. It contains only those algorithms, because the server runs the
 * whole text for each decision. Immutable.
 *
 * @param text Lua 5.1, for Redis 6.2 or newer
 * @param sha the SHA-1 of the text in hexadecimal, which identifies it on the server
 */
record Script(String text, String sha) {

    /** The algorithms, each with its Lua file and the letter that its values begin with. */
    enum Algorithm {
        TOKEN_BUCKET('t'),
        TOKEN_BUCKET_INTERVAL('i'),
        FIXED_WINDOW('f'),
        SLIDING_WINDOW('s'),
        SLIDING_LOG('l'),
        /** Uses the file of the sliding log, too. */
        CONCURRENCY('c'),
        /** Around the others, each under its letter in upper case. */
        PENALTY('-');

        private final char letter;

        Algorithm(char letter) {
            this.letter = letter;
        }

        char letter() {
            return letter;
        }

        @SuppressWarnings("EnumOrdinal") // never leaves this class
        private int bit() {
            return 1 << ordinal();
        }

        private String file() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua";
        }
    }

    /** The files that scripts consist of, all read at once: the first decision may be on an event loop. */
    private static final Map<String, String> PARTS = parts();

    /** By the bits of their algorithms' numbers. */
    private static final AtomicReferenceArray<@Nullable Script> KNOWN =
            new AtomicReferenceArray<>(1 << Algorithm.values().length);

    /** Reads the files now, and looks up the digest, which reads files of the JDK. */
    static void initialize() {
        Script ignored = ofAll();
    }

    /** Creates a script from this text. */
    static Script of(String text) {
        try {
            byte[] sha = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return new Script(text, HexFormat.of().formatHex(sha));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-1 is not available", e);
        }
    }

    /** The script for these algorithms. */
    static Script of(Set<Algorithm> algorithms) {
        int bits = 0;
        for (Algorithm algorithm : algorithms) {
            bits |= algorithm.bit();
        }
        return known(bits);
    }

    /** The script for all limits of these batches. */
    static Script of(List<Batch> batches) {
        int bits = 0;
        for (Batch batch : batches) {
            for (Batch.Entry entry : batch.entries()) {
                bits |= entry.limit().algorithm().bit();
                bits |= entry.limit().hasPenalty() ? Algorithm.PENALTY.bit() : 0;
            }
        }
        return known(bits);
    }

    private static Script known(int bits) {
        Script known = KNOWN.get(bits);
        if (known != null) {
            return known;
        }
        Script composed = compose(EnumSet.allOf(Algorithm.class).stream()
                .filter(algorithm -> (bits & algorithm.bit()) != 0)
                .collect(Collectors.toSet()));
        return KNOWN.compareAndSet(bits, null, composed) ? composed : known(bits);
    }

    private static Script compose(Set<Algorithm> algorithms) {
        StringBuilder text = new StringBuilder(part("begin.lua"));
        if (algorithms.equals(Set.of(Algorithm.TOKEN_BUCKET))) {
            text.append(part("all-token-buckets.lua"));
        }
        text.append(part("before.lua"));
        for (Algorithm algorithm : Algorithm.values()) {
            if (algorithms.contains(algorithm)
                    || (algorithm == Algorithm.SLIDING_LOG && algorithms.contains(Algorithm.CONCURRENCY))) {
                text.append(part(algorithm.file()));
            }
        }
        return of(text.append(part("after.lua")).toString());
    }

    /** The script for all algorithms, which can also read the state that another algorithm's limit wrote. */
    static Script ofAll() {
        return of(EnumSet.allOf(Algorithm.class));
    }

    private static String part(String file) {
        return Objects.requireNonNull(PARTS.get(file), file);
    }

    private static Map<String, String> parts() {
        return Stream.concat(
                        Stream.of("begin.lua", "all-token-buckets.lua", "before.lua", "after.lua"),
                        Stream.of(Algorithm.values()).map(Algorithm::file))
                .collect(Collectors.toUnmodifiableMap(file -> file, Script::read));
    }

    private static String read(String file) {
        try (InputStream lua = Script.class.getResourceAsStream(file)) {
            if (lua == null) {
                throw new IllegalStateException("script " + file + " not found next to " + Script.class.getName());
            }
            return new String(lua.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
