package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts outcomes, and logs those that operators would not expect: what policies in shadow mode would have refused, and
 * what policies refuse because the store does not answer. At most one message per policy, outcome and minute: at once for
 * the first request, and a minute later for all others. Thread-safe.
 */
final class OutcomeLog implements OutcomeCounter {

    private static final Logger log = LoggerFactory.getLogger(OutcomeLog.class);

    private static final long INTERVAL_NANOS = Duration.ofMinutes(1).toNanos();

    private final OutcomeCounter counter;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Map<String, Messages> shadows = new ConcurrentHashMap<>();
    private final Map<String, Messages> unavailable = new ConcurrentHashMap<>();

    OutcomeLog(OutcomeCounter counter, Ticker ticker, Scheduler scheduler) {
        this.counter = counter;
        this.ticker = ticker;
        this.scheduler = scheduler;
    }

    /** The messages about a policy. */
    private final class Messages {

        private final Consumer<String> message;

        /** Requests that are not logged yet. */
        private long requests;

        private long silentUntilNanos = ticker.nanos();

        private boolean written;

        /** Whether an alarm will log them. */
        private boolean waiting;

        Messages(Consumer<String> message) {
            this.message = message;
        }

        synchronized void add() {
            requests++;
            long leftNanos = silentUntilNanos - ticker.nanos();
            if (leftNanos <= 0) {
                write();
            } else if (!waiting) {
                try {
                    scheduler.schedule(this::writeRest, leftNanos);
                    waiting = true;
                } catch (RuntimeException e) {
                    // the next request of a later minute logs them
                }
            }
        }

        private synchronized void writeRest() {
            waiting = false;
            if (requests > 0) {
                write();
            }
        }

        private void write() {
            message.accept((requests == 1 ? "1 request" : requests + " requests")
                    + (written ? " since the last message" : "; this is logged once a minute at most"));
            written = true;
            requests = 0;
            silentUntilNanos = ticker.nanos() + INTERVAL_NANOS;
        }
    }

    @Override
    public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
        counter.count(policy, key, outcome, request);
        log(policy, outcome);
    }

    @Override
    public boolean readsEndpoints() {
        return counter.readsEndpoints();
    }

    private void log(String policy, Outcome outcome) {
        if (outcome == Outcome.SHADOW_REFUSED) {
            shadows.computeIfAbsent(
                            policy,
                            name -> new Messages(requests -> log.info(
                                    "Rate limit {} is in shadow mode; enforced, it would have refused {}",
                                    Quotation.of(name),
                                    requests)))
                    .add();
        } else if (outcome == Outcome.UNAVAILABLE) {
            unavailable
                    .computeIfAbsent(
                            policy,
                            name -> new Messages(requests -> log.warn(
                                    "The store has failed or did not answer in time, so rate limit {} could not decide about {}",
                                    Quotation.of(name),
                                    requests)))
                    .add();
        }
    }

    @Override
    public void waited(String policy, Outcome outcome, long nanos) {
        counter.waited(policy, outcome, nanos);
    }

    @Override
    public @Nullable Runnable decided(Rule rule, Charge charge, boolean refused, RequestContext request) {
        return counter.decided(rule, charge, refused, request);
    }

    @Override
    public Runnable held(Charge charge) {
        return counter.held(charge);
    }
}
