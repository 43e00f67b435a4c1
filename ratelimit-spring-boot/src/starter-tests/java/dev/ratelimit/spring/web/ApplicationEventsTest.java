package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Forgetful;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChangedEvent;
import dev.ratelimit.spring.RateLimitChangedEvent.Cause;
import dev.ratelimit.spring.RateLimitOverrideEvent;
import dev.ratelimit.spring.RateLimitOverrideEvent.Action;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RateLimitRefusedEvent;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** What listeners of an application hear, and that no request waits for them. */
@Tag("servers")
class ApplicationEventsTest extends AppPerTest {

    private static final String ON = "ratelimit.events.refusals=true";

    @Configuration(proxyBeanMethods = false)
    static class Listeners implements Forgetful {

        final List<Object> heard = new CopyOnWriteArrayList<>();
        final List<String> threads = new CopyOnWriteArrayList<>();

        @Override
        public void forget() {
            heard.clear();
            threads.clear();
        }

        @EventListener
        void refused(RateLimitRefusedEvent event) {
            threads.add(Thread.currentThread().getName());
            heard.add(event);
        }

        @EventListener
        void changed(RateLimitChangedEvent event) {
            heard.add(event);
        }

        @EventListener
        void overridden(RateLimitOverrideEvent event) {
            heard.add(event);
        }
    }

    private List<Object> heard(int events) {
        List<Object> heard = app.bean(Listeners.class).heard;
        await().until(() -> heard.size() >= events);
        return heard;
    }

    @Test
    void refusal_isHeard_onAThreadOfItsOwn() {
        start(
                List.of(TestApi.class, Listeners.class),
                ON,
                "management.endpoint.ratelimits.show-keys=always",
                "p.limit=1/hour",
                "p.key=header:X-Id, endpoint");

        assertThat(app.get("/orders/1", "X-Id: a").status()).isEqualTo(200);
        assertThat(app.get("/orders/1", "X-Id: a").status()).isEqualTo(429);

        assertThat(heard(1)).singleElement().isInstanceOfSatisfying(RateLimitRefusedEvent.class, event -> {
            assertThat(event.policy()).isEqualTo("p");
            assertThat(event.mode()).isEqualTo(Mode.ENFORCE);
            assertThat(event.key()).containsExactly("a", "GET /orders/{id}");
            assertThat(event.endpoint()).isEqualTo("GET /orders/{id}");
        });
        assertThat(app.bean(Listeners.class).threads).containsExactly("ratelimit-events");
    }

    @Test
    void keys_areHashes_unlessTheyAreShownToEverybody() {
        start(
                List.of(TestApi.class, Listeners.class),
                ON,
                "management.endpoint.ratelimits.show-keys=when-authorized",
                "p.limit=1/hour",
                "p.key=header:X-Id");

        app.get("/orders/1", "X-Id: a");
        app.get("/orders/1", "X-Id: a");

        assertThat(heard(1))
                .singleElement()
                .isInstanceOfSatisfying(
                        RateLimitRefusedEvent.class,
                        event -> assertThat(event.key())
                                .singleElement()
                                .asString()
                                .startsWith("#"));
    }

    @Test
    void refusals_areNoEvents_unlessSwitchedOn_butChangesAre() {
        start(List.of(TestApi.class, Listeners.class), "p.limit=1/hour");

        app.get("/orders/1");
        assertThat(app.get("/orders/1").status()).isEqualTo(429);
        app.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("5/hour"));

        // in order, so a refusal would be the first
        assertThat(heard(1)).singleElement().isInstanceOfSatisfying(RateLimitChangedEvent.class, event -> {
            assertThat(event.policy()).isEqualTo("p");
            assertThat(event.cause()).isEqualTo(Cause.OPERATOR);
            assertThat(event.by()).isNull();
            assertThat(event.from()).startsWith("1/hour");
            assertThat(event.to()).startsWith("5/hour");
        });
    }

    @Test
    void overrides_areHeard_andTheirEnds() {
        start(List.of(TestApi.class, Listeners.class), "p.limit=1/hour", "p.key=header:X-Id");

        app.bean(RateLimitPolicies.class)
                .override("p", "a", KeyOverride.blocked().lasting(Duration.ofHours(1)));
        heard(1);
        app.ticker().advance(Duration.ofHours(1));

        assertThat(heard(2))
                .extracting(event -> ((RateLimitOverrideEvent) event).action())
                .containsExactly(Action.SET, Action.EXPIRED);
        assertThat(((RateLimitOverrideEvent) heard(2).get(0)).key()).startsWith("#");
    }

    @Configuration(proxyBeanMethods = false)
    static class Hanging {

        final CountDownLatch goOn = new CountDownLatch(1);

        @EventListener
        void refused(RateLimitRefusedEvent event) throws InterruptedException {
            goOn.await();
            throw new IllegalStateException("a listener's own");
        }
    }

    @Test
    void listenersThatHangAndThrow_harmNoRequest() {
        start(List.of(TestApi.class, Hanging.class), ON, "p.limit=1/hour", "p.match.paths=/orders/**");
        app.get("/orders/1");

        // if a listener could stop a thread that answers requests, all of them would be stopped now
        for (int i = 0; i < 50; i++) {
            assertThat(app.get("/orders/1").status()).isEqualTo(429);
        }
        app.bean(Hanging.class).goOn.countDown();
        assertThat(app.get("/orders/1").status()).isEqualTo(429);
        assertThat(app.get("/any").status()).isEqualTo(200);
    }
}
