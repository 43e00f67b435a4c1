package dev.ratelimit.remote;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.RateLimitStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** What a store gets from this package is no more than the contract asks for, and no less. */
@Tag("slow")
class RemoteStoreTest extends RateLimitStoreContract {

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        return new NearServer.Builder()
                .ticker(time)
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .build();
    }
}
