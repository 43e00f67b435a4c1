package dev.ratelimit.spring.rules.key;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that a bean has failed that resolves keys or plans: the first failure at once, and then once a minute at most.
 * Thread-safe.
 */
public final class ResolverFailures {

    private static final Logger log = LoggerFactory.getLogger(ResolverFailures.class);

    private static final long INTERVAL_NANOS = Duration.ofMinutes(1).toNanos();

    private final String bean;
    private final Ticker ticker;
    private final AtomicLong silentUntilNanos;

    /** Failures that are not logged yet. */
    private final AtomicLong failures = new AtomicLong();

    /** Those of a bean, by name. */
    public ResolverFailures(String bean, Ticker ticker) {
        this.bean = bean;
        this.ticker = ticker;
        this.silentUntilNanos = new AtomicLong(ticker.nanos());
    }

    /** Notes a failure. */
    public void add(Throwable failure) {
        failures.incrementAndGet();
        long now = ticker.nanos();
        long until = silentUntilNanos.get();
        if (now - until >= 0 && silentUntilNanos.compareAndSet(until, now + INTERVAL_NANOS)) {
            long count = failures.getAndSet(0);
            log.warn(
                    "Bean {} has failed, so {} had no value from it; this is logged once a minute at most",
                    Quotation.of(bean),
                    count == 1 ? "1 request" : count + " requests",
                    failure);
        }
    }
}
