package dev.ratelimit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The script that decides limits of some algorithms: those in it, and no other, since the server runs all of its text
 * each time. Immutable.
 *
 * @param text Lua 5.1, for Redis 6.2 or newer
 * @param sha its SHA-1 in hexadecimal, by which the server knows it
 */
record Script(String text, String sha) {

    /** The algorithms, each with its file of Lua and the letter that values begin with. */
    enum Algorithm {
        TOKEN_BUCKET('t'),
        TOKEN_BUCKET_INTERVAL('i'),
        FIXED_WINDOW('f'),
        SLIDING_WINDOW('s'),
        SLIDING_LOG('l');

        private final char letter;

        Algorithm(char letter) {
            this.letter = letter;
        }

        char letter() {
            return letter;
        }

        private String file() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua";
        }
    }

    private static final Map<Set<Algorithm>, Script> KNOWN = new ConcurrentHashMap<>();

    /** A script of this text. */
    static Script of(String text) {
        try {
            byte[] sha = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return new Script(text, HexFormat.of().formatHex(sha));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-1", e);
        }
    }

    /** The script for these algorithms. */
    static Script of(Set<Algorithm> algorithms) {
        Script known = KNOWN.get(algorithms);
        return known != null ? known : KNOWN.computeIfAbsent(Set.copyOf(algorithms), Script::compose);
    }

    private static Script compose(Set<Algorithm> algorithms) {
        StringBuilder text = new StringBuilder(read("begin.lua"));
        if (algorithms.equals(Set.of(Algorithm.TOKEN_BUCKET))) {
            text.append(read("all-token-buckets.lua"));
        }
        text.append(read("before.lua"));
        for (Algorithm algorithm : Algorithm.values()) {
            if (algorithms.contains(algorithm)) {
                text.append(read(algorithm.file()));
            }
        }
        return of(text.append(read("after.lua")).toString());
    }

    /** The script for all algorithms, which can also read what a limit of another one has written. */
    static Script ofAll() {
        return of(EnumSet.allOf(Algorithm.class));
    }

    private static String read(String file) {
        try (InputStream lua = Script.class.getResourceAsStream(file)) {
            if (lua == null) {
                throw new IllegalStateException(file + " is missing beside " + Script.class.getName());
            }
            return new String(lua.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
