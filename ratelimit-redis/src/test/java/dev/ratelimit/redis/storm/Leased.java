package dev.ratelimit.redis.storm;

import dev.ratelimit.algorithm.IntervalTokenBucket;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.storm.World.Place;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** How large leases are, and what of them is refunded. */
final class Leased {

    /** How long a lease lasts. */
    static final long LEASE_NANOS = 1_000_000_000;

    /** What is sent in time may arrive this much later. */
    private static final long LATE_SLACK_NANOS = 250_000_000;

    /** Callers ask for fewer permits at once. */
    private static final long MIN_LEASE = 12;

    private static final double FRACTION = 0.2;

    /** Smaller limits have no leases. */
    private static final long MIN_CAPACITY = 100;

    /** How many permits the first lease of a key has, which was asked for as often. */
    static final int FIRST = 8;

    private record Lessee(Place place, String key) {}

    private record Told(long atNanos, double remaining) {}

    private record Charge(String key, long atMicros) {}

    private final World world;
    private final Setup setup;
    private final long deadlineNanos;
    private final Map<Lessee, Deque<Told>> told = new HashMap<>();
    private final Map<Lessee, Integer> answers = new HashMap<>();

    /** The charges of leases, as far as callers ask for fewer permits. */
    private final Set<Charge> large = new HashSet<>();

    /** What was not refunded of a charge, because the bucket had refilled it meanwhile. */
    private final Map<Charge, Double> refilled = new HashMap<>();

    Leased(World world, Setup setup) {
        this.world = world;
        this.setup = setup;
        this.deadlineNanos = setup.deadlineNanos();
    }

    /** Counts the answers that an instance gets about a key. */
    void answered(Place place, Asked asked) {
        int unused = answers.merge(new Lessee(place, asked.key()), 1, Integer::sum);
    }

    /** Checks that a charge may be paid from a lease: of a key in frequent use, and of a limit that is not small. */
    void requireAllowed(Place place, dev.ratelimit.Charge charge, String key) {
        world.require(
                charge.policy().penalty() == null
                        && charge.policy().limits().stream()
                                .allMatch(limit -> limit.capacity() >= MIN_CAPACITY && !limit.concurrency()),
                "%s is paid from a lease",
                charge);
        // a decision counts if some server has answered
        world.require(
                answers.getOrDefault(new Lessee(place, key), 0) >= FIRST || setup.isCluster(),
                "%s is paid from a lease although its key was hardly used",
                charge);
    }

    /** Records that an instance gets the answer to a charge. */
    void told(Place place, Asked asked) {
        if (asked.isBucket() && asked.state().length > 0) {
            told.computeIfAbsent(new Lessee(place, asked.key()), lessee -> new ArrayDeque<>())
                    .add(new Told(world.now(), asked.remaining()));
        }
    }

    /**
     * Checks that a lease takes a small part of what the instance was told that is left, and nothing of a limit of which
     * all instances must know at once.
     */
    void requireSmall(Place place, Asked asked) {
        boolean shared = asked.algorithm() == 'c' || Character.isUpperCase(asked.algorithm());
        world.require(
                asked.permits() < MIN_LEASE || !shared,
                "a lease takes %d permits of %s, which has a penalty or is a concurrency limit",
                asked.permits(),
                asked.key());
        Deque<Told> latest = told.get(new Lessee(place, asked.key()));
        if (asked.permits() < MIN_LEASE || latest == null) {
            return;
        }
        // it was told the number that it relies on when it got its last lease, or since then
        long since = world.now() - LEASE_NANOS - 2 * (deadlineNanos + Storm.WAKE_NANOS);
        while (!latest.isEmpty() && latest.peek().atNanos < since) {
            latest.remove();
        }
        double most = latest.stream().mapToDouble(Told::remaining).max().orElse(0);
        world.require(
                asked.permits() <= FRACTION * most || place.stillUntil > since,
                "a lease takes %d permits of %s, which had at most %.0f left",
                asked.permits(),
                asked.key(),
                most);
    }

    /** Records that a server carries out a charge. */
    void charged(Asked asked, long nowMicros) {
        if (asked.permits() >= MIN_LEASE) {
            large.add(new Charge(asked.key(), nowMicros));
        }
    }

    /** Records that a server carries out a refund. */
    void refunded(Asked asked, long nowMicros, long chargedMicros) {
        double ageNanos = 1_000.0 * (nowMicros - chargedMicros);
        if (ageNanos > LEASE_NANOS) {
            refilled.merge(
                    new Charge(asked.key(), chargedMicros), 2 + ageNanos * perNano(asked.key(), false), Double::sum);
        }
    }

    /** How fast the fastest bucket of this key's policy refills, from which all that is late is deducted. */
    private double perNano(String key, boolean changed) {
        int name = key.indexOf(':') + 1;
        int number = Integer.parseInt(key.substring(name + 1, key.indexOf(':', name)));
        return setup.policies().get(number).policy("p" + number, changed).algorithms().stream()
                .filter(limit -> limit instanceof TokenBucket || limit instanceof IntervalTokenBucket)
                .mapToDouble(limit -> (double) limit.capacity() / limit.replenishNanos())
                .max()
                .orElse(0);
    }

    /** Of a lease that ends late, a bucket that has refilled permits meanwhile does not get them back. */
    void requireUnfilled(Asked asked, long nowMicros, long chargedMicros, long largest) {
        long ageMicros = nowMicros - chargedMicros;
        double refilled =
                (double) ageMicros > (LEASE_NANOS + LATE_SLACK_NANOS) / 1000.0 ? asked.refilled((double) ageMicros) : 0;
        double most = largest - Math.max(0, refilled) + 1;
        world.require(
                asked.permits() <= Math.max(0, most) || !large.contains(new Charge(asked.key(), chargedMicros)),
                "%d permits of %s are refunded %.3f s after a lease took them",
                asked.permits(),
                asked.key(),
                ageMicros / 1e6);
    }

    /**
     * How many permits of a charge may remain that nobody holds: what a bucket has refilled until its lease was ended late.
     *
     * @param stoodStillNanos for how long the instance could not end it
     */
    double mostKept(String key, long chargedMicros, long stoodStillNanos) {
        double fastest = Math.max(perNano(key, false), perNano(key, true));
        double late = stoodStillNanos == 0 ? 0 : (LEASE_NANOS + stoodStillNanos) * fastest + 2;
        return Math.max(refilled.getOrDefault(new Charge(key, chargedMicros), 0.0), late);
    }
}
