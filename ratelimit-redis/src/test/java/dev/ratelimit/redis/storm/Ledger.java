package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.storm.World.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * Each charge that a server took, what of it was refunded, and what of it callers hold; and of which charges and refunds
 * instances were never told. Permits of concurrency limits are known by the number of their charge, others by its time.
 */
final class Ledger {

    /**
     * What identifies a charge.
     *
     * @param key the name of the limit's key
     * @param stamp the time by the server's clock, or the number
     */
    record Stamped(String key, long stamp) {}

    /** What servers took at once. */
    static final class Entry {
        private final Place place;
        private final char algorithm;
        private final long chargedNanos;
        private long charged;
        private long refunded;
        private long granted;

        /** Of the charged permits, those of commands whose replies have not reached the instance. */
        private long untold;

        /** The permits of refunds that were sent, but have not reached the server, as far as the instance knows. */
        private long unheard;

        private boolean reset;

        private Entry(Place place, char algorithm, long chargedNanos) {
            this.place = place;
            this.algorithm = algorithm;
            this.chargedNanos = chargedNanos;
        }

        /** When it was charged, by the world's time. */
        long chargedNanos() {
            return chargedNanos;
        }

        Place place() {
            return place;
        }

        /** Whether the permits are held, and do not come back by themselves for a long time. */
        boolean isHeld() {
            return algorithm == 'c';
        }

        /** Whether the key was reset since. */
        boolean isReset() {
            return reset;
        }

        /** What neither callers hold nor the server has again. */
        long missing() {
            return charged - refunded - granted;
        }

        /**
         * What may be missing because the instance cannot know what became of a command: an answer was lost for good. What
         * is known by a number is given back in any case.
         */
        long unknown() {
            return isHeld() ? unheard : untold + unheard;
        }
    }

    /** A part of a command that an instance waits for. */
    private record Open(Entry entry, long permits) {}

    private final World world;
    private final Map<Stamped, Entry> entries = new HashMap<>();

    /** By their arguments, the commands whose replies have not reached their instances. */
    private final IdentityHashMap<byte[][], List<Open>> untold = new IdentityHashMap<>();

    private final IdentityHashMap<byte[][], List<Open>> unheard = new IdentityHashMap<>();

    /** Instances that may have sent something twice, or given it up, because of an error that was not meant for it. */
    private final Set<Place> misled = new HashSet<>();

    /** Whether nobody but the store itself refunds, which knows what a reset has erased. */
    private final boolean alone;

    Ledger(World world, boolean alone) {
        this.world = world;
        this.alone = alone;
    }

    void misled(Place place) {
        misled.add(place);
    }

    /** Records that a server took permits. */
    void charged(Place place, byte[][] command, Asked asked, long atMicros) {
        Entry entry = entries.computeIfAbsent(
                new Stamped(asked.key(), asked.stamp(atMicros)),
                stamped -> new Entry(place, asked.kind(), world.now()));
        entry.charged += asked.permits();
        entry.untold += asked.permits();
        untold.computeIfAbsent(command, arguments -> new ArrayList<>()).add(new Open(entry, asked.permits()));
    }

    /** Records that an instance sends a refund. */
    void sendsRefund(byte[][] command, Asked asked, long atMicros) {
        Entry entry = entries.get(new Stamped(asked.key(), asked.stamp(atMicros)));
        // permits that are known by a number are refunded again until that is known, but only all of them
        boolean repeated = entry != null && entry.isHeld() && asked.permits() == entry.charged;
        if (entry != null && !repeated) {
            entry.unheard += asked.permits();
            unheard.computeIfAbsent(command, arguments -> new ArrayList<>()).add(new Open(entry, asked.permits()));
        }
    }

    /** Records that a server executed a command, so that nothing of a refund can be lost any more. */
    void executed(byte[][] command) {
        List<Open> open = unheard.remove(command);
        if (open != null) {
            open.forEach(each -> each.entry.unheard -= each.permits);
        }
    }

    /** Records that an instance gets the reply to a command. */
    void told(byte[][] command) {
        executed(command);
        List<Open> open = untold.remove(command);
        if (open != null) {
            open.forEach(each -> each.entry.untold -= each.permits);
        }
    }

    /** Records that a server returned permits: those of a charge, and only once. */
    void refunded(Asked asked, long atMicros) {
        Entry entry = entries.get(new Stamped(asked.key(), asked.stamp(atMicros)));
        long left = entry == null ? 0 : entry.charged - entry.refunded;
        // permits that are known by a number come back at most once, however often that is asked for
        long permits = asked.kind() == 'c' ? Math.min(asked.permits(), left) : asked.permits();
        world.require(
                permits <= left || (entry != null && misled.contains(entry.place)),
                "%d permits of %s are refunded to a charge of which %d were charged and not refunded",
                permits,
                asked.key(),
                left);
        world.require(
                entry == null || !entry.reset || !alone,
                "%d permits of %s are refunded to a charge that a reset has erased",
                permits,
                asked.key());
        if (entry != null) {
            entry.refunded += permits;
            check(asked.key(), entry);
        }
    }

    /** Records that a caller was granted permits of this charge, or is about to return some, which are below zero. */
    void granted(Stamped stamped, long permits) {
        Entry entry = entries.get(stamped);
        world.require(
                entry != null || permits == 0,
                "a caller gets %d permits of %s, which no server charged",
                permits,
                stamped);
        if (entry != null) {
            entry.granted += permits;
            check(stamped.key, entry);
        }
    }

    private void check(String key, Entry entry) {
        world.require(
                entry.granted <= entry.charged - entry.refunded || misled.contains(entry.place),
                "callers hold %d permits of a charge to %s of which the server charged %d and refunded %d",
                entry.granted,
                key,
                entry.charged,
                entry.refunded);
    }

    /** Records that a server forgot the charges of a key. */
    void reset(String key) {
        entries.forEach((stamped, entry) -> entry.reset |= stamped.key.equals(key));
    }

    /** How many permits of a key are charged and not refunded. */
    long held(String key) {
        return entries.entrySet().stream()
                .filter(each -> each.getKey().key.equals(key) && each.getValue().isHeld())
                .map(Map.Entry::getValue)
                .mapToLong(entry -> Math.max(0, entry.charged - entry.refunded))
                .sum();
    }

    /** Requires that no more is missing of any charge than may be. */
    void balance(ToDoubleFunction<Map.Entry<Stamped, Entry>> most) {
        for (Map.Entry<Stamped, Entry> each : entries.entrySet()) {
            Entry entry = each.getValue();
            double may = entry.missing() <= 0 ? 0 : most.applyAsDouble(each);
            world.require(
                    entry.missing() <= may || misled.contains(entry.place),
                    "%s: of the %d permits that %s charged at %.6f s, %d are missing, and not more than %.2f may be",
                    each.getKey().key,
                    entry.charged,
                    entry.place,
                    entry.chargedNanos / 1e9,
                    entry.missing(),
                    may);
        }
    }
}
