package dev.ratelimit;

import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue;
import dev.ratelimit.remote.RemoteStoreListener;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class PublicApiTest {

    @Test
    void api_isTheOneWrittenDown() throws IOException {
        PublicApi.check(
                "ratelimit-core",
                RateLimiter.class,
                Algorithm.class,
                LeasingStore.class,
                InMemoryStore.class,
                RateLimitQueue.class,
                RemoteStoreListener.class);
    }
}
