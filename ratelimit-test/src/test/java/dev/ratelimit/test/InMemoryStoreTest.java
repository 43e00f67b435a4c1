package dev.ratelimit.test;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.util.stream.Stream;

class InMemoryStoreTest extends RateLimitStoreContract {

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        return InMemoryStore.builder().ticker(time).build();
    }

    /** Also a custom limit, which holds other permits than those of its rate. */
    @Override
    protected Stream<Limit> limits(Rate rate) {
        long interval = TokenBucket.of(rate).replenishNanos() / rate.permits();
        return Stream.concat(super.limits(rate), Stream.of(new PeakRate(interval)));
    }
}
