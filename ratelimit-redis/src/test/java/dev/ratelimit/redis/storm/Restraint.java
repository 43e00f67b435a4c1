package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.redis.storm.World.Place;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether an instance leaves its only server alone once that has failed often enough, and for long enough each time. */
final class Restraint {

    private static final long MAX_INTERVAL_NANOS = 30_000_000_000L;

    /** The shortest part of an interval after which a probe may follow. */
    private static final double EARLIEST = 0.9;

    /** The longest one. */
    private static final double LATEST = 1.1;

    /** For how many first intervals a server must have been used before it is left alone for the first interval again. */
    private static final int CALM = 10;

    private static final long SLACK_NANOS = 1_000;

    /** Of how many requests it is counted how many fail. */
    private static final int REMEMBERED = 20;

    private final World world;
    private final Place place;
    private final Setup setup;

    /** Whether callers return permits, which is told only if it fails. */
    private final boolean refunds;

    private final List<Boolean> outcomes = new ArrayList<>();
    private boolean stopped;
    private int inVain;
    private long usedNanos;
    private long intervalNanos;
    private long dueNanos;
    private long lastNanos;
    private boolean probed;

    /** Whether a probe that was not early may have failed since the last early one. */
    private boolean mayHurry;

    private long stoppedNanos;
    private long connectedNanos;
    private long earlyNanos = Long.MIN_VALUE / 2;

    /** Whether a probe that was not early has certainly failed, and the server was not connected to since. */
    private boolean failed;

    /** The connection on which the next request must be an early probe. */
    private @Nullable Wire hurried;

    /** From then on, any failure that a caller is told of may be that of a probe: not all of them are sent. */
    private long probesFromNanos;

    private long maxIntervalNanos;
    private long latestNanos;

    Restraint(World world, Place place, Setup setup, boolean refunds) {
        this.refunds = refunds;
        this.world = world;
        this.place = place;
        this.setup = setup;
        // the question that the store asks when it starts may fail
        outcomes.add(true);
    }

    /** Records that the server is not used any more. */
    void stopped() {
        stopped = true;
        probed = false;
        mayHurry = false;
        failed = false;
        hurried = null;
        stoppedNanos = world.now();
        lastNanos = stoppedNanos;
        long usedFor = lastNanos - usedNanos;
        if (usedFor >= CALM * setup.openForNanos() - SLACK_NANOS) {
            intervalNanos = 0;
        }
        if (usedFor >= CALM * setup.openForNanos() + SLACK_NANOS) {
            maxIntervalNanos = 0;
        }
        delay();
        delayAtMost();
        probesFromNanos = dueNanos;
    }

    /** Records that there is a new connection to the server. */
    void connected(Wire connection) {
        connectedNanos = world.now();
        if (stopped && failed) {
            failed = false;
            hurried = connection;
        }
    }

    /** Records that the server is used again. */
    void used() {
        stopped = false;
        inVain = 0;
        outcomes.clear();
        usedNanos = world.now();
    }

    private void delay() {
        intervalNanos = next(intervalNanos);
        dueNanos = lastNanos + (long) (EARLIEST * intervalNanos) - SLACK_NANOS;
    }

    /** When the next probe may follow that is not early. */
    private long earliestNanos() {
        return probed ? lastNanos + (long) (EARLIEST * next(intervalNanos)) - SLACK_NANOS : dueNanos;
    }

    private void delayAtMost() {
        maxIntervalNanos = next(maxIntervalNanos);
        latestNanos = world.now() + (long) (LATEST * maxIntervalNanos) + SLACK_NANOS;
    }

    private long latestNanos() {
        // of an instance that stood still, a probe may have failed while its caller got the answer
        long since = place.stillUntil > lastNanos ? place.stillUntil : Long.MIN_VALUE / 2;
        return Math.max(latestNanos, since + (long) (LATEST * next(maxIntervalNanos)) + SLACK_NANOS);
    }

    private long next(long interval) {
        long first = setup.openForNanos();
        return interval == 0 ? first : Math.min(2 * interval, Math.max(first, MAX_INTERVAL_NANOS));
    }

    /** Checks that a decision may be sent now. */
    void asked() {
        long now = world.now();
        // what had begun before is sent until nobody waits for it
        long since = Math.max(lastNanos, earlyNanos);
        boolean begun = (now - since <= setup.deadlineNanos() + Storm.WAKE_NANOS && world.callingSince() <= since)
                || place.stillUntil > lastNanos;
        if (!stopped || begun) {
            return;
        }
        failed = false;
        hurried = null;
        // on a new connection, once for each probe that failed, and nobody is told of one for a lease
        if ((mayHurry || setup.leased()) && connectedNanos > Math.max(lastNanos, earlyNanos)) {
            earlyNanos = now;
            mayHurry = now >= earliestNanos();
            return;
        }
        if (probed) {
            delay();
        }
        world.require(now >= dueNanos, "%s asks a failing server %.3f s too early", place, (dueNanos - now) / 1e9);
        probed = true;
        mayHurry = true;
        lastNanos = now;
    }

    /** Records that a caller was answered by the server. */
    void answered() {
        inVain = 0;
        outcomes.add(false);
    }

    /** How many of the last requests failed, as far as callers have told. */
    long failures() {
        long skipped = outcomes.size() - REMEMBERED - world.unfinished(place);
        return outcomes.stream()
                .skip(Math.max(0, skipped))
                .filter(failed -> failed)
                .count();
    }

    /** How many of the last requests have certainly failed, even if others were answered that have not told yet. */
    private long certainFailures() {
        long skipped = outcomes.size() - REMEMBERED + world.unfinished(place);
        return outcomes.stream()
                .skip(Math.max(1, skipped))
                .filter(failed -> failed)
                .count();
    }

    private void probeFailed() {
        mayHurry |= world.now() >= earliestNanos();
        boolean sent = probed && world.now() - lastNanos <= setup.deadlineNanos() + Storm.WAKE_NANOS;
        failed = sent && earlyNanos < lastNanos && world.callingSince() > stoppedNanos;
        hurried = null;
    }

    /**
     * Checks that the server is not used any more once callers were told of enough failures, one after the other, and
     * that it is not left alone for too long.
     */
    void failed(RedisStoreFailure reason) {
        if (stopped && reason == RedisStoreFailure.OPEN) {
            // another caller may be the probe
            world.require(
                    world.now() <= latestNanos() || world.unfinished(place) > 1,
                    "%s does not ask a server again, %.3f s too late",
                    place,
                    (world.now() - latestNanos()) / 1e9);
            world.require(
                    hurried == null
                            || !hurried.isOpen()
                            || world.now() - connectedNanos <= SLACK_NANOS
                            || world.unfinished(place) > 1,
                    "%s does not ask a server that it has just connected to",
                    place);
        } else if (stopped && reason != RedisStoreFailure.SATURATED && world.now() >= probesFromNanos) {
            probeFailed();
            delayAtMost();
        }
        boolean ofServer = switch (reason) {
            case WRONG_TYPE, SCRIPT, MOVING, OPEN, SATURATED, INTERRUPTED -> false;
            default -> true;
        };
        if (reason == RedisStoreFailure.WRONG_TYPE || reason == RedisStoreFailure.SCRIPT) {
            answered();
        }
        if (ofServer && !stopped) {
            outcomes.add(true);
            inVain++;
            // others may have been answered, and do not know it yet
            world.require(
                    inVain < setup.failures() + world.unfinished(place) - 1,
                    "%s uses a server after %d failures",
                    place,
                    inVain);
            world.require(
                    refunds || certainFailures() < setup.failures() + world.unfinished(place) - 1,
                    "%s uses a server after %d of the last requests failed",
                    place,
                    certainFailures());
        }
    }
}
