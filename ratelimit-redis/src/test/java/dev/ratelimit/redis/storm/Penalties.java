package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.redis.Seam;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** When the servers' penalties begin and end. */
final class Penalties {

    /** The time in which answers that were overtaken arrive. */
    private static final long PROMPT_NANOS = 1_000_000_000;

    /** The latest penalty of a key, by the server's time. */
    private static final class Penalty {
        private long sinceNanos;
        private long endsNanos;
        private boolean reset;
    }

    private final World world;
    private final boolean steady;
    private final Map<String, Penalty> penalties = new HashMap<>();

    /**
     * Starts without penalties.
     *
     * @param steady whether no fault changes what servers have
     */
    Penalties(World world, boolean steady) {
        this.world = world;
        this.steady = steady;
    }

    private static String key(Charge charge) {
        return Seam.slowestKey(Books.PREFIX, charge);
    }

    /** Records that a key is about to be reset. */
    void reset(Charge charge) {
        penalties.computeIfAbsent(key(charge), name -> new Penalty()).reset = true;
    }

    /** A refusal is repeated without asking only if no penalty might start now. */
    void requireStarted(Decision decision) {
        for (Charge charge : decision.charges()) {
            boolean refuses = decision.limits().stream()
                    .anyMatch(status -> status.charge().sameBudget(charge));
            world.require(
                    charge.policy().penalty() == null || (refuses && penalties.containsKey(key(charge))),
                    "%s is refused without having asked, and its penalty may start now",
                    charge);
        }
    }

    /** Records a server's refusal: a penalty lasts from the first one on, and later ones do not change it. */
    void refused(Charge charge, long refusedNanos, long nextNanos) {
        Penalty penalty = penalties.computeIfAbsent(key(charge), name -> new Penalty());
        long lasts =
                Objects.requireNonNull(charge.policy().penalty()).duration().toNanos();
        long ends = refusedNanos + Math.min(nextNanos, lasts);
        if (refusedNanos < penalty.endsNanos) {
            world.require(
                    !steady || penalty.reset || ends <= penalty.endsNanos + PROMPT_NANOS,
                    "the penalty of %s lasts %.3f s longer",
                    charge,
                    (ends - penalty.endsNanos) / 1e9);
        } else if (nextNanos >= lasts - PROMPT_NANOS) {
            // a status that was asked for after the charge had been given back may show a penalty that began later
            boolean began = nextNanos >= lasts;
            penalty.sinceNanos = refusedNanos + (began ? 0 : PROMPT_NANOS);
            penalty.endsNanos = ends;
        }
    }

    /** Nothing but a reset ends a penalty before its time. */
    void requireOver(Charge charge, long chargedNanos) {
        Penalty penalty = penalties.get(key(charge));
        world.require(
                !steady
                        || penalty == null
                        || penalty.reset
                        || charge.permits() == 0
                        || chargedNanos <= penalty.sinceNanos
                        || chargedNanos >= penalty.endsNanos - PROMPT_NANOS,
                "%s is admitted under a penalty",
                charge);
    }
}
