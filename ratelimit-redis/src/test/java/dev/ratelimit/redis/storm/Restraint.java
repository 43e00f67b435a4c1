package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.redis.storm.World.Place;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Whether an instance leaves its only server alone once that has failed often enough, and only then, and how often it
 * probes it.
 */
final class Restraint {

    private static final Set<StoreFailure.Reason> NOT_OF_SERVER = Set.of(
            RedisStoreFailure.WRONG_TYPE,
            RedisStoreFailure.SCRIPT,
            RedisStoreFailure.MOVING,
            RemoteStoreFailure.OPEN,
            RemoteStoreFailure.SATURATED,
            RemoteStoreFailure.STALLED,
            RemoteStoreFailure.INTERRUPTED);

    /** The shortest part of an interval in which probes are counted. */
    private static final double EARLIEST = 0.9;

    /** How long it takes at most to do what follows at once. */
    static final long PROMPT_NANOS = 2_000_000;

    /** In that part: one in vain, and then up to three that are to succeed. */
    private static final int MAX_PROBES = 4;

    /** Of how many requests it is counted how many fail. */
    private static final int REMEMBERED = 20;

    private final World world;
    private final Place place;
    private final Setup setup;

    /** Whether the instance tells of each request: what succeeds for a lease, or as a refund, is not told. */
    private final boolean tellsAll;

    private final List<Boolean> outcomes = new ArrayList<>();
    private boolean stopped;
    private int inVain;
    private long stoppedNanos;
    private int refunds;
    private final List<Long> probes = new ArrayList<>();

    /** When the last probe was sent that came in its turn, and not because of a new connection. */
    private long probedNanos;

    private boolean probeAnswered;
    private final List<Long> connections = new ArrayList<>();

    Restraint(World world, Place place, Setup setup, boolean tellsAll) {
        this.tellsAll = tellsAll;
        this.world = world;
        this.place = place;
        this.setup = setup;
        // the question that the store asks when it starts may fail
        outcomes.add(true);
    }

    /** Records that the server is not used any more. */
    void stopped() {
        stopped = true;
        stoppedNanos = world.now();
    }

    /** Records that there is a new connection to the server: a probe in vain is repeated there at once. */
    void connected(Wire wire) {
        long now = world.now();
        connections.add(now);
        if (hasProbedInVain(stoppedNanos)) {
            world.in(
                    PROMPT_NANOS,
                    world.outside(),
                    () -> world.require(
                            !stopped
                                    || !wire.isOpen()
                                    || latest(probes) >= now
                                    || place.stillUntil > now
                                    || place.hasEnded(),
                            "%s does not probe a failing server on a new connection",
                            place));
        }
    }

    private static long latest(List<Long> times) {
        return times.isEmpty() ? Long.MIN_VALUE : times.get(times.size() - 1);
    }

    /** Whether the last probe was sent after this time, and has failed for want of an answer. */
    boolean hasProbedInVain(long nanos) {
        return stopped
                && !probeAnswered
                && probedNanos > Math.max(nanos, stoppedNanos)
                && world.now() - probedNanos > setup.deadlineNanos() + Storm.WAKE_NANOS
                && place.stillUntil < probedNanos;
    }

    /** Records that the server answers a probe. */
    void probeAnswered() {
        probeAnswered = true;
    }

    /** Records that the server is used again. */
    void used() {
        stopped = false;
        inVain = 0;
        refunds = 0;
        outcomes.clear();
    }

    /** Checks that a decision may be sent now: nothing but what had been asked for when the server was left alone. */
    void asked() {
        world.require(
                !stopped
                        || world.now() - stoppedNanos <= setup.deadlineNanos() + Storm.WAKE_NANOS
                        || place.stillUntil > stoppedNanos,
                "%s sends a decision to a server that it leaves alone",
                place);
    }

    /** Checks that a probe may be sent now: a few in an interval, and one more on each new connection. */
    void probes() {
        boolean early = !connections.isEmpty() && world.now() - latest(connections) <= PROMPT_NANOS;
        probedNanos = early ? Long.MIN_VALUE : world.now();
        probeAnswered = false;
        long since = world.now() - (long) (EARLIEST * setup.openForNanos()) + setup.deadlineNanos();
        probes.removeIf(at -> at < since);
        connections.removeIf(at -> at < since);
        probes.add(world.now());
        world.require(
                probes.size() <= MAX_PROBES + connections.size() || place.stillUntil > since,
                "%s probes a failing server %d times in an interval",
                place,
                probes.size());
    }

    /** Records that a caller was answered by the server. */
    void answered() {
        inVain = 0;
        outcomes.add(false);
    }

    /** How many of the last requests failed at most: what became of refunds is not told. */
    long failures() {
        if (!tellsAll) {
            return REMEMBERED;
        }
        long skipped = outcomes.size() - REMEMBERED - world.unfinished(place);
        return refunds
                + outcomes.stream()
                        .skip(Math.max(0, skipped))
                        .filter(failed -> failed)
                        .count();
    }

    /** Records that a refund is sent. */
    void refunds() {
        refunds++;
    }

    /** How many of the last requests have certainly failed, even if others were answered that have not told yet. */
    private long certainFailures() {
        long skipped = outcomes.size() - REMEMBERED + world.unfinished(place);
        return outcomes.stream()
                .skip(Math.max(1, skipped))
                .filter(failed -> failed)
                .count();
    }

    /** Checks that the server is not used any more once callers were told of enough failures. */
    void failed(StoreFailure.Reason reason) {
        boolean ofServer = !NOT_OF_SERVER.contains(reason);
        if (reason == RedisStoreFailure.WRONG_TYPE || reason == RedisStoreFailure.SCRIPT) {
            answered();
        }
        if (ofServer && !stopped) {
            outcomes.add(true);
            inVain++;
            // others may have been answered, and do not know it yet
            long known = setup.failures() + world.unfinished(place) - 1;
            world.require(
                    !tellsAll || (inVain < known && certainFailures() < known),
                    "%s uses a server after %d failures in a row, and %d of the last requests",
                    place,
                    inVain,
                    certainFailures());
        }
    }
}
