package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.World.Place;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the memory of each instance has granted, and what it must have left: its share of a limit, minus what it granted,
 * and at least minus its share of what was used when a server last answered. Only buckets, because their refill is the
 * same at any time.
 */
final class Shares {

    /** Remainders are rounded down, and so is the share of what was used. */
    private static final double ROUNDING = 1.01;

    /** So few permits refill within the nanoseconds between a decision and its answer. */
    private static final double NEARLY = 0.00001;

    /** How long after memory has decided a caller is told at most. */
    private static final long LATE_NANOS = 1_000_000_000;

    private record Local(Place place, String key) {}

    private record Taken(long permits, long atNanos) {}

    /** The fill of a bucket that drains at the rate of a limit. */
    private static final class Level {
        private final LimitAlgorithm limit;
        private double permits;
        private long atNanos;
        private boolean changed;

        private Level(LimitAlgorithm limit) {
            this.limit = limit;
        }

        private void drain(long now, LimitAlgorithm limit) {
            double drained = (double) (now - atNanos) * limit.capacity() / limit.replenishNanos();
            // memory, which was asked a moment before, may have found it not quite empty
            changed |= permits > 0 && Math.abs(permits - drained) < NEARLY;
            permits = Math.max(0, permits - drained);
            atNanos = now;
        }
    }

    private record Known(LimitStatus status, long atNanos) {}

    private final World world;
    private final double share;
    private final boolean exact;
    private final Map<Local, Level> levels = new HashMap<>();
    private final Map<Local, Known> known = new HashMap<>();
    private final Map<Local, Deque<Taken>> held = new HashMap<>();
    private final Set<Local> refused = new HashSet<>();

    /** Keys of which it is not certain what an instance knew when memory decided. */
    private final Set<Local> forgotten = new HashSet<>();

    /** When each instance was last about to return or reset something. */
    private final Map<Place, Long> returnedNanos = new HashMap<>();

    /**
     * Creates untouched memories.
     *
     * @param share each instance's share of a limit
     * @param exact whether memory knows of servers what their answers say, which is not so with leases or other limits
     */
    Shares(World world, double share, boolean exact) {
        this.world = world;
        this.share = share;
        this.exact = exact;
    }

    /**
     * Records an answer.
     *
     * @param charged whether permits were asked for, and not only their number
     * @param began when it was asked for
     */
    void answered(Place place, Decision decision, boolean charged, long began) {
        // if it has already known a later answer, memory keeps that
        boolean overtaken = began <= returnedNanos.getOrDefault(place, -1L);
        // memory may have decided some time ago, while other servers had not answered
        boolean late = decision.charges().stream().anyMatch(charge -> Seam.byServer(decision, charge))
                && decision.charges().stream().anyMatch(charge -> Seam.inMemory(decision, charge));
        for (Charge charge : decision.charges()) {
            for (Told told : Told.of(decision, charge)) {
                Local local = new Local(place, told.key());
                if (late) {
                    forgotten.add(local);
                }
                LimitStatus status = told.status();
                if (status != null && Seam.byServer(decision, charge) && told.limit() instanceof TokenBucket) {
                    known.put(local, new Known(status, world.now()));
                    if (overtaken) {
                        forgotten.add(local);
                    }
                } else if (status != null && Seam.inMemory(decision, charge)) {
                    long taken = charged && decision.admitted() ? charge.permits() : 0;
                    answeredHere(local, told.limit().scaled(share), late, status, taken);
                    if (charged && !status.admitted()) {
                        requirePenalty(local, decision, status);
                    }
                }
            }
        }
    }

    private void answeredHere(Local local, LimitAlgorithm part, boolean late, LimitStatus status, long taken) {
        if (part instanceof Concurrency) {
            requireReleased(local, part, status, taken);
        } else if (part instanceof TokenBucket) {
            requireLeft(local, part, late ? null : status, taken);
        }
    }

    private void requireLeft(Local local, LimitAlgorithm part, @Nullable LimitStatus status, long taken) {
        Level level = levels.computeIfAbsent(local, key -> new Level(part));
        // what was used under another limit is converted
        level.changed |= !level.limit.equals(part);
        level.drain(world.now(), part);
        Known before = known.remove(local);
        if (before != null && world.now() - before.atNanos < before.status.fullAfterNanos()) {
            long capacity = before.status.limit().capacity();
            long used = part.share(capacity - before.status.remaining(), capacity);
            // so close to a whole number that memory may round it the other way
            double fromWhole = Math.abs(level.permits - Math.rint(level.permits));
            level.changed |= fromWhole < NEARLY && level.permits > 0;
            double missing = used - Math.ceil(level.permits);
            level.permits += exact && !forgotten.contains(local) ? Math.max(0, missing) : 0;
        }
        level.permits += Math.min(taken, part.capacity());
        double left = part.capacity() - level.permits;
        if (status == null || level.changed) {
            return;
        }
        boolean tooLittle = status.remaining() < left - ROUNDING && exact && !forgotten.contains(local);
        world.require(
                left > -0.01 && status.remaining() < left + ROUNDING && !tooLittle,
                "memory of %s says that %d permits of %s are left, and there must be %.2f",
                local.place,
                status.remaining(),
                local.key,
                left);
    }

    /** The first refusal of memory starts the penalty there, too, unless a server has refused before. */
    private void requirePenalty(Local local, Decision decision, LimitStatus status) {
        Charge charge = status.charge();
        Penalty penalty = charge.policy().penalty();
        if (penalty == null || charge.permits() == 0 || !local.key.equals(Seam.slowestKey(Books.PREFIX, charge))) {
            return;
        }
        boolean first = refused.add(local);
        boolean alone = decision.charges().stream().noneMatch(other -> Seam.byServer(decision, other));
        world.require(
                !first
                        || !alone
                        || status.nextAvailableNanos() >= penalty.duration().toNanos() - LATE_NANOS,
                "memory of %s refuses %s without a penalty",
                local.place,
                charge);
    }

    /** Of a concurrency limit, memory counts only what it granted itself: permits held on a server come back there. */
    private void requireReleased(Local local, LimitAlgorithm part, LimitStatus status, long taken) {
        Deque<Taken> all = held.computeIfAbsent(local, key -> new ArrayDeque<>());
        all.add(new Taken(taken, world.now()));
        while (world.now() - all.element().atNanos > part.replenishNanos() + LATE_NANOS) {
            all.remove();
        }
        long most = all.stream().mapToLong(Taken::permits).sum();
        // memory may have granted permits to callers that are not told yet
        world.require(
                status.remaining() >= part.capacity() - most || world.unfinished(local.place) > 1,
                "memory of %s says that %d permits of %s are left, and granted %d",
                local.place,
                status.remaining(),
                local.key,
                most);
    }

    /**
     * Records that a caller is about to return what it was granted.
     *
     * @param part how many permits of each charge
     */
    void returned(Place place, Decision decision, ToLongFunction<Charge> part) {
        returnedNanos.put(place, world.now());
        for (Charge charge : decision.charges()) {
            for (Told told : Told.of(decision, charge)) {
                Local local = new Local(place, told.key());
                Level level = levels.get(local);
                if (Seam.byServer(decision, charge)) {
                    forgotten.add(local);
                } else if (level != null
                        && Seam.inMemory(decision, charge)
                        && told.limit() instanceof TokenBucket bucket) {
                    returned(level, bucket.scaled(share), charge, part.applyAsLong(charge));
                }
            }
        }
    }

    private void returned(Level level, LimitAlgorithm here, Charge charge, long part) {
        level.changed |= !level.limit.equals(here);
        level.drain(world.now(), here);
        long taken = Math.min(charge.permits(), here.capacity());
        long permits = charge.permits() == 0 ? 0 : taken * part / charge.permits();
        level.permits = Math.max(0, level.permits - permits);
    }

    /** Records that an instance is about to reset a key. */
    void reset(Place place, Charge charge) {
        returnedNanos.put(place, world.now());
        for (String key : Seam.keys(Books.PREFIX, charge)) {
            levels.remove(new Local(place, key));
            forgotten.add(new Local(place, key));
        }
    }

    /** Records that it has done so: if it did nothing else meanwhile, it has forgotten what it knew. */
    void wasReset(Place place, Charge charge) {
        for (String key : Seam.keys(Books.PREFIX, charge)) {
            Local local = new Local(place, key);
            if (world.unfinished(place) == 1 && !levels.containsKey(local)) {
                known.remove(local);
                forgotten.remove(local);
            }
        }
    }
}
