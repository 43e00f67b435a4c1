package dev.ratelimit.test;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.stream.Stream;

class InMemoryStoreTest extends RateLimitStoreContract {

    /** It sweeps once an hour: some tests pass years, each of a million sweeps. */
    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        Scheduler seldom =
                (task, delayNanos) -> time.schedule(task, Duration.ofHours(1).toNanos());
        return InMemoryStore.builder().ticker(time).scheduler(seldom).build();
    }

    /** Also a custom limit, which holds other permits than those of its rate. */
    @Override
    protected Stream<Limit> limits(Rate rate) {
        long interval = TokenBucket.of(rate).replenishNanos() / rate.permits();
        return Stream.concat(super.limits(rate), Stream.of(new PeakRate(interval)));
    }
}
