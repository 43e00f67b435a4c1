package dev.ratelimit.test;

import dev.ratelimit.RateLimitStore;
import org.junit.jupiter.api.Tag;

@Tag("slow")
class LockedStoreTest extends RateLimitStoreContract {

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        return new LockedStore(time);
    }
}
