package dev.ratelimit.test;

import dev.ratelimit.RateLimitStore;

class LockedStoreTest extends RateLimitStoreContract {

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        return new LockedStore(time);
    }
}
