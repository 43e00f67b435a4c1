package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.spring.rules.history.History;
import dev.ratelimit.spring.rules.history.SharedHistory;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shares the history of changes by one key in Redis: the script {@code history.lua} appends to it if it is what the
 * instance has read last; otherwise the instance reads it again, and writes what both know. Used under the lock of
 * {@link RedisChanges}.
 */
final class RedisHistory implements SharedHistory {

    private static final Logger log = LoggerFactory.getLogger(RedisHistory.class);

    /** How often another instance may be first; the next question tells the rest. */
    private static final int ATTEMPTS = 5;

    /**
     * A history as it is shared.
     *
     * @param of its entries
     * @param text one line for each, of ASCII characters
     * @param digest of the text; empty if there is none
     */
    private record Text(History of, String text, String digest) {

        static final Text NONE = new Text(History.NONE, "", "");

        static Text of(History history) {
            String text = history.toString();
            return new Text(history, text, digestOf(text));
        }

        private static String digestOf(String text) {
            try {
                byte[] hash = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
                return text.isEmpty() ? "" : HexFormat.of().formatHex(hash);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("SHA-1 is not available", e);
            }
        }

        /** What another text has to lose at its beginning, and to get at its end, to become this one. */
        List<String> differenceFrom(Text other) {
            int kept = other.text.indexOf(text.substring(0, text.indexOf('\n') + 1));
            String rest = other.text.substring(Math.max(0, kept));
            return kept >= 0 && text.startsWith(rest)
                    ? List.of(Integer.toString(kept), text.substring(rest.length()))
                    : List.of("-1", text);
        }
    }

    private final String key;
    private final Duration alive;
    private final RedisOverrides.Scripts scripts;

    /** Of the history that this instance has asked about last. */
    private Text mine = Text.NONE;

    /** What Redis had last, as far as this instance knows. */
    private Text theirs = Text.NONE;

    RedisHistory(String key, Duration alive, RedisOverrides.Scripts scripts) {
        this.key = key;
        this.alive = alive;
        this.scripts = scripts;
    }

    /** The digest of what an instance knows. */
    String digest(History known) {
        return text(known).digest();
    }

    @SuppressWarnings("ReferenceEquality") // fast, and equal ones have the same text anyway
    private Text text(History known) {
        if (mine.of() != known) {
            mine = Text.of(known);
        }
        return mine;
    }

    /** Tells what this instance knows, after it has read what Redis has. */
    History join(History known) {
        read();
        return exchange(known);
    }

    @Override
    public History exchange(History known) {
        History all = known.and(theirs.of());
        for (int i = 0; i < ATTEMPTS && !text(all).digest().equals(theirs.digest()); i++) {
            if (write(text(all))) {
                theirs = text(all);
            } else {
                read();
                all = all.and(theirs.of());
            }
        }
        return all;
    }

    private boolean write(Text next) {
        return ask(Stream.concat(
                                Stream.of("WRITE", Long.toString(alive.toMillis()), theirs.digest(), next.digest()),
                                next.differenceFrom(theirs).stream())
                        .toList())
                .get(1)
                .equals("1");
    }

    private void read() {
        List<String> reply = ask(List.of("READ", Long.toString(alive.toMillis())));
        String entries = reply.get(1);
        try {
            theirs = new Text(History.parse(entries), entries, reply.get(2));
        } catch (IllegalArgumentException e) {
            warnOfForeign();
            theirs = new Text(History.NONE, entries, reply.get(2));
        }
    }

    private List<String> ask(List<String> arguments) {
        List<String> reply =
                scripts.eval(Stream.concat(Stream.of(key), arguments.stream()).toList());
        if (reply.get(0).equals("1")) {
            warnOfForeign();
        }
        return reply;
    }

    private void warnOfForeign() {
        log.warn(
                "The key {} in Redis had a value that is none of the history of rate limits; it was replaced by the one that"
                        + " this instance knows. Give the other writer another key, or this application another"
                        + " ratelimit.store.redis.prefix",
                key);
    }
}
