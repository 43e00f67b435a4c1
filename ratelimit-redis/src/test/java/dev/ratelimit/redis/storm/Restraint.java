package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.redis.storm.History.Setup;
import dev.ratelimit.redis.storm.World.Place;

/** Whether an instance leaves its only server alone once that has failed often enough, and for long enough each time. */
final class Restraint {

    private static final long MAX_INTERVAL_NANOS = 30_000_000_000L;

    /** The shortest part of an interval after which a probe may follow. */
    private static final double EARLIEST = 0.9;

    /** For how many first intervals a server must have been used before it is left alone for the first interval again. */
    private static final int CALM = 10;

    private static final long SLACK_NANOS = 1_000;

    private final World world;
    private final Place place;
    private final Setup setup;
    private boolean stopped;
    private int inVain;
    private long usedNanos;
    private long intervalNanos;
    private long dueNanos;
    private long lastNanos;
    private boolean probed;

    Restraint(World world, Place place, Setup setup) {
        this.world = world;
        this.place = place;
        this.setup = setup;
    }

    /** Records that the server is not used any more. */
    void stopped() {
        stopped = true;
        probed = false;
        lastNanos = world.now();
        if (lastNanos - usedNanos >= CALM * setup.openForNanos() - SLACK_NANOS) {
            intervalNanos = 0;
        }
        delay();
    }

    /** Records that the server is used again. */
    void used() {
        stopped = false;
        inVain = 0;
        usedNanos = world.now();
    }

    private void delay() {
        long first = setup.openForNanos();
        intervalNanos = intervalNanos == 0 ? first : Math.min(2 * intervalNanos, Math.max(first, MAX_INTERVAL_NANOS));
        dueNanos = lastNanos + (long) (EARLIEST * intervalNanos) - SLACK_NANOS;
    }

    /** Checks that a decision may be sent now. */
    void asked() {
        long now = world.now();
        // what had begun before is sent until nobody waits for it
        boolean begun = now - lastNanos <= setup.deadlineNanos() + Storm.WAKE_NANOS || place.stillUntil > lastNanos;
        if (!stopped || begun) {
            return;
        }
        if (probed) {
            delay();
        }
        world.require(now >= dueNanos, "%s asks a failing server %.3f s too early", place, (dueNanos - now) / 1e9);
        probed = true;
        lastNanos = now;
    }

    /** Records that a caller was answered by the server. */
    void answered() {
        inVain = 0;
    }

    /** Checks that the server is not used any more once callers were told of enough failures, one after the other. */
    void failed(RedisStoreFailure reason) {
        boolean ofServer = switch (reason) {
            case WRONG_TYPE, SCRIPT, MOVING, OPEN, SATURATED, INTERRUPTED -> false;
            default -> true;
        };
        if (ofServer && !stopped) {
            inVain++;
            // others may have been answered, and do not know it yet
            world.require(
                    inVain < setup.failures() + world.unfinished(place) - 1,
                    "%s uses a server after %d failures",
                    place,
                    inVain);
        }
    }
}
