package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KeyspaceTest {

    private static final LimitAlgorithm BUCKET = TokenBucket.of(Rate.parse("1/second"));

    private final SetTicker ticker = new SetTicker();
    private final StoreClock clock = new StoreClock(ticker);

    @Test
    @DisplayName("a key gets the room that another thread makes while all keys that were looked at are exhausted")
    void add_roomIsMadeDuringTheSearch_isAdded() {
        Keyspace keys = new Keyspace(1, clock);
        LimitAlgorithm hooked = (LimitAlgorithm) Proxy.newProxyInstance(
                LimitAlgorithm.class.getClassLoader(),
                new Class<?>[] {LimitAlgorithm.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("remaining")) {
                        keys.releasePlace();
                    }
                    return method.invoke(BUCKET, arguments);
                });
        keys.tryCharge("exhausted", hooked, 1);

        assertThat(keys.tryCharge("k", BUCKET, 1)).isEqualTo(Outcome.ADMITTED);

        long hash = KeyHash.of("k");
        assertThat(keys.segment(hash).find(hash)).isNotNull();
        assertThat(keys.overflow().find(Keyspace.overflowOf(BUCKET))).isNull();
    }

    @Test
    @DisplayName(
            "a table of the maximum size is rebuilt before removed keys fill it: each search would pass all of them")
    void add_manyKeysComeAndGo_leavesSlotsThatWereNeverUsed() {
        Keyspace keys = new Keyspace(100, clock);
        LimitAlgorithm two = TokenBucket.of(Rate.parse("2/second"));

        for (int i = 0; i < 10_000; i++) {
            ticker.advance(Duration.ofMillis(5).toNanos());
            assertThat(keys.tryCharge("k" + i, two, 1)).isEqualTo(Outcome.ADMITTED);
        }

        Table table = keys.segment(KeyHash.OF_EMPTY).table();
        assertThat(IntStream.range(0, table.slots()).filter(i -> table.neverUsed(i * table.stride)))
                .isNotEmpty();
        assertThat(keys.size()).isLessThanOrEqualTo(100);
    }

    @Test
    @DisplayName("no key is evicted for one that another thread has added in the meantime")
    void evict_keyIsThere_evictsNone() {
        Keyspace keys = new Keyspace(1, clock);
        keys.tryCharge("k", TokenBucket.of(Rate.parse("9/hour")), 1);
        long hash = KeyHash.of("k");

        assertThat(keys.segment(hash).evict(new Sample(hash, none -> false))).isTrue();

        assertThat(keys.size()).isEqualTo(1);
        assertThat(keys.segment(hash).find(hash)).isNotNull();
    }
}
