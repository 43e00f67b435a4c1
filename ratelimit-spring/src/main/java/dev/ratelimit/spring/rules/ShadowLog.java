package dev.ratelimit.spring.rules;

import dev.ratelimit.Charge;
import dev.ratelimit.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts outcomes, and logs whom policies in shadow mode would have refused: at most one message per policy and minute,
 * with the number of refusals since the last one. Thread-safe.
 */
final class ShadowLog implements OutcomeCounter {

    private static final Logger log = LoggerFactory.getLogger(ShadowLog.class);

    private static final long INTERVAL_NANOS = Duration.ofMinutes(1).toNanos();

    private final OutcomeCounter counter;
    private final Ticker ticker;
    private final Map<String, Silence> silences = new ConcurrentHashMap<>();

    ShadowLog(OutcomeCounter counter, Ticker ticker) {
        this.counter = counter;
        this.ticker = ticker;
    }

    /** The refusals of a policy that are not logged yet. */
    private static final class Silence {

        private long refusals;
        private long untilNanos;
        private boolean logged;

        Silence(long nowNanos) {
            untilNanos = nowNanos;
        }

        /** Counts a refusal; returns how many to log now, or {@code null}. */
        synchronized @Nullable String refuse(long nowNanos) {
            refusals++;
            if (nowNanos - untilNanos < 0) {
                return null;
            }
            String due = (refusals == 1 ? "1 request" : refusals + " requests")
                    + (logged ? " since the last message" : "; this is logged once a minute at most");
            refusals = 0;
            untilNanos = nowNanos + INTERVAL_NANOS;
            logged = true;
            return due;
        }
    }

    @Override
    public void refused(String policy, String key) {
        counter.refused(policy, key);
    }

    @Override
    public Runnable held(Charge charge) {
        return counter.held(charge);
    }

    @Override
    public void count(String policy, Outcome outcome) {
        counter.count(policy, outcome);
        if (outcome == Outcome.SHADOW_REFUSED) {
            long now = ticker.nanos();
            String due =
                    silences.computeIfAbsent(policy, name -> new Silence(now)).refuse(now);
            if (due != null) {
                log.info("Rate limit '{}' is in shadow mode; enforced, it would have refused {}", policy, due);
            }
        }
    }
}
