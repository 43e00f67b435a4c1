package dev.ratelimit.spring.rules.traffic;

import dev.ratelimit.Ticker;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a policy that were refused last: how often in each of the last 60 minutes, and what the last refusal was.
 * When there is no room, the key is forgotten whose last refusal is the longest ago. So a key that is not remembered was
 * not refused after that moment, and what is remembered of a key is complete since such a moment.
 *
 * <p>Memory: at most {@link #KEYS} keys of about 470 bytes, of which 64 are the characters of the key and 240 its minutes;
 * together less than half a megabyte. Thread-safe.
 */
public final class RefusedKeys {

    /** The maximum number of keys. */
    public static final int KEYS = 1_000;

    private static final int MINUTES = Traffic.MINUTES;

    /** In place of seconds: no wait helps. */
    private static final long NEVER = -1;

    /** In place of seconds: the caller was not told of the refusal. */
    private static final long NOT_TOLD = -2;

    /** A moment: the number of its minute, and its wall time in milliseconds since the epoch. */
    record Moment(int minute, long millis) {

        Instant time() {
            return Instant.ofEpochMilli(millis);
        }
    }

    /**
     * What is known of the refusals of a key.
     *
     * @param since all refusals since then are known
     * @param byMinute their number in each of the last minutes, the current one last; the first is that of {@code since}
     *     if this is less than an hour ago
     * @param last the last one
     */
    public record Remembered(Instant since, List<Integer> byMinute, Refusal last) {}

    /**
     * A refusal.
     *
     * @param endpoint of the request; {@code null} if the caller was not told of the refusal, or it is unknown
     * @param retryAfterSeconds how long the caller was told to wait; {@code null} if it was told nothing, or no wait helps
     */
    public record Refusal(
            Instant time,
            @Nullable String endpoint,
            @Nullable Long retryAfterSeconds) {}

    /** A key that is remembered. */
    private static final class Entry {

        private final int sinceMinute;
        private final long sinceMillis;

        /** By minute; what is older than an hour at the last refusal is overwritten. */
        private final int[] refusals = new int[MINUTES];

        private int lastMinute;
        private long lastMillis;
        private @Nullable String endpoint;
        private long retryAfterSeconds;

        Entry(Moment since, Moment first) {
            sinceMinute = since.minute();
            sinceMillis = since.millis();
            lastMinute = first.minute();
        }

        void count(Moment now) {
            for (int next = Math.max(lastMinute + 1, now.minute() - MINUTES + 1); next <= now.minute(); next++) {
                refusals[next % MINUTES] = 0;
            }
            lastMinute = now.minute();
            lastMillis = now.millis();
            refusals[lastMinute % MINUTES]++;
            endpoint = null;
            retryAfterSeconds = NOT_TOLD;
        }

        Moment last() {
            return new Moment(lastMinute, lastMillis);
        }

        Remembered at(int now) {
            List<Integer> byMinute = new ArrayList<>(MINUTES);
            for (int minute = Math.max(sinceMinute, now - MINUTES + 1); minute <= now; minute++) {
                byMinute.add(minute <= lastMinute ? refusals[minute % MINUTES] : 0);
            }
            Long wait = retryAfterSeconds < 0 ? null : retryAfterSeconds;
            return new Remembered(
                    Instant.ofEpochMilli(sinceMillis), byMinute, new Refusal(last().time(), endpoint, wait));
        }
    }

    private final IntSupplier minute;
    private final Ticker ticker;

    /** Guarded by this; the first is the one whose last refusal is the longest ago. */
    private final Map<String, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

    /** Since then, no other keys were refused. Guarded by this. */
    private Moment complete;

    /**
     * Remembers what happens from now on.
     *
     * @param start since when all refusals are counted
     * @param minute the number of the current minute
     * @param ticker the wall time
     */
    RefusedKeys(Moment start, IntSupplier minute, Ticker ticker) {
        this.complete = start;
        this.minute = minute;
        this.ticker = ticker;
    }

    static Moment now(IntSupplier minute, Ticker ticker) {
        return new Moment(minute.getAsInt(), Math.floorDiv(ticker.epochNanos(), 1_000_000L));
    }

    /** Counts a refusal. */
    synchronized void refused(String key) {
        // read under the lock, so that the order of the entries is that of their times
        Moment now = now(minute, ticker);
        Entry entry = entries.get(key);
        if (entry == null) {
            if (entries.size() == KEYS) {
                forgetOldest();
            }
            entry = new Entry(complete, now);
            entries.put(key, entry);
        }
        entry.count(now);
    }

    private void forgetOldest() {
        Iterator<Entry> oldest = entries.values().iterator();
        complete = oldest.next().last();
        oldest.remove();
    }

    /** Notes what the caller was told of the last refusal; {@code null} seconds if no wait helps. */
    synchronized void told(String key, @Nullable String endpoint, @Nullable Long retryAfterSeconds) {
        Entry entry = entries.get(key);
        if (entry != null) {
            entry.endpoint = endpoint;
            entry.retryAfterSeconds = retryAfterSeconds == null ? NEVER : retryAfterSeconds;
        }
    }

    /** What is remembered of a key; {@code null} if nothing. */
    public synchronized @Nullable Remembered of(String key) {
        // get() would make it the last one
        for (Map.Entry<String, Entry> one : entries.entrySet()) {
            if (one.getKey().equals(key)) {
                return one.getValue().at(minute.getAsInt());
            }
        }
        return null;
    }

    /** The remembered keys, the one that was refused last first. */
    public synchronized List<String> keys() {
        List<String> keys = new ArrayList<>(entries.keySet());
        Collections.reverse(keys);
        return keys;
    }

    /** Since when a key that is not remembered was not refused. */
    public synchronized Instant complete() {
        return complete.time();
    }
}
