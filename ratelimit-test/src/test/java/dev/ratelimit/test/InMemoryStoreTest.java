package dev.ratelimit.test;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;

class InMemoryStoreTest extends RateLimitStoreContract {

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        return InMemoryStore.builder().ticker(time).build();
    }
}
