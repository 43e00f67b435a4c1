package dev.ratelimit.spring.boot.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.redis.RedisStoreFailure;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.spring.RateLimitStoreEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** An outage of several servers is one event, and so is its end. */
class StoreEventsTest {

    private final List<Object> heard = new ArrayList<>();
    private final AtomicBoolean available = new AtomicBoolean(true);
    private final StoreEvents events = new StoreEvents(heard::add);

    private void change(boolean now) {
        available.set(now);
        events.changed();
    }

    @Test
    void outage_isOneEvent_withTheLastReason_andItsEndAnother() {
        events.watch(available::get);
        events.failed(RemoteStoreFailure.CONNECTION);
        events.failed(RedisStoreFailure.WRONG_TYPE);
        events.failed(RemoteStoreFailure.OPEN);

        change(false);
        change(false);
        change(true);
        change(true);

        assertThat(heard)
                .containsExactly(new RateLimitStoreEvent(false, "wrong-type"), new RateLimitStoreEvent(true, null));
    }

    @Test
    void outage_beforeTheStoreIsKnown_isAnEventThen() {
        available.set(false);
        events.changed();
        assertThat(heard).isEmpty();

        events.watch(available::get);

        assertThat(heard).containsExactly(new RateLimitStoreEvent(false, null));
    }
}
