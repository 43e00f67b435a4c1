package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitRefusedEvent;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Which refusals are events, and what they tell. */
class RefusalEventsTest {

    private static final int MAX = 3;

    private final List<RateLimitRefusedEvent> heard = new ArrayList<>();
    private boolean full;
    private boolean showKeys;

    private RequestLimiter publishing(LiveRules live) {
        QueuedEvents events = new QueuedEvents(event -> heard.add((RateLimitRefusedEvent) event), task -> {
            if (full) {
                throw new RejectedExecutionException();
            }
            task.run();
        });
        return live.limiter(new RefusalEvents(
                events,
                MAX,
                live.ticker,
                (policy, key) -> live.keys.list(live.rules.inForce().byPolicy().get(policy), key, showKeys)));
    }

    private static void ask(RequestLimiter limiter, int times, WebRequest request) {
        for (int i = 0; i < times; i++) {
            limiter.charge(null, request);
        }
    }

    @Test
    void refusal_tellsPolicyAndTime_andHidesTheKey() {
        LiveRules live = new LiveRules("p.limit=1/hour", "p.key=user", "ratelimit.policies.wide.limit=100/hour");
        RequestLimiter limiter = publishing(live);

        ask(limiter, 2, get("/orders/1").by("alice"));
        ask(limiter, 2, get("/orders/1").by("bob"));

        assertThat(heard).hasSize(2).allSatisfy(event -> {
            assertThat(event.policy()).isEqualTo("p");
            assertThat(event.mode()).isEqualTo(Mode.ENFORCE);
            assertThat(event.key()).singleElement().asString().matches("#[0-9a-f]{12}");
            assertThat(event.endpoint()).isNull();
            assertThat(event.at()).isEqualTo(Instant.parse("2027-01-01T00:00:00Z"));
            assertThat(event.leftOut()).isZero();
        });
        assertThat(heard).extracting(RateLimitRefusedEvent::key).doesNotHaveDuplicates();
        assertThat(live.report("p", List.of("alice"), false))
                .containsEntry("key", heard.get(0).key().get(0));
    }

    @Test
    void refusal_showsTheKey_andTheEndpointThatAPolicyHasLookedUp() {
        showKeys = true;
        RequestLimiter limiter = publishing(new LiveRules("p.limit=1/hour", "p.key=user, endpoint"));

        ask(limiter, 2, get("/orders/1").by("alice"));

        assertThat(heard).singleElement().satisfies(event -> {
            assertThat(event.key()).containsExactly("alice", "GET /orders/{id}");
            assertThat(event.endpoint()).isEqualTo("GET /orders/{id}");
        });
    }

    @Test
    void refusal_withoutAKey_hasNone() {
        RequestLimiter limiter = publishing(new LiveRules(
                "p.limit=1/hour",
                "ratelimit.policies.q.limit=9/hour",
                "ratelimit.policies.q.key=header:X-Id",
                "ratelimit.policies.q.missing-key=reject"));

        ask(limiter, 2, get("/").with("X-Id", "a"));
        ask(limiter, 1, get("/"));

        assertThat(heard).extracting(RateLimitRefusedEvent::policy).containsExactly("p", "q");
        assertThat(heard).allSatisfy(event -> assertThat(event.key()).isEmpty());
    }

    @Test
    void refusalInShadowMode_isAnEvent_unlessAnotherPolicyRefuses() {
        RequestLimiter limiter = publishing(
                new LiveRules("p.limit=1/hour", "p.mode=shadow", "p.key=user", "ratelimit.policies.q.limit=2/hour"));

        ask(limiter, 3, get("/").by("alice"));

        assertThat(heard).extracting(RateLimitRefusedEvent::policy).containsExactly("p", "q");
        assertThat(heard).extracting(RateLimitRefusedEvent::mode).containsExactly(Mode.SHADOW, Mode.ENFORCE);
    }

    @Test
    void refusalsBeyondTheMaximum_areCountedByTheNextEvent() {
        LiveRules live = new LiveRules("p.limit=1/hour", "p.key=user", "ratelimit.policies.q.limit=20/hour");
        RequestLimiter limiter = publishing(live);

        ask(limiter, 11, get("/").by("alice"));
        assertThat(leftOut()).containsExactly(0L, 0L, 0L);

        live.ticker.advance(Duration.ofMillis(999));
        ask(limiter, 1, get("/").by("alice"));
        assertThat(heard).hasSize(MAX);

        live.ticker.advance(Duration.ofMillis(1));
        ask(limiter, 2, get("/").by("alice"));
        assertThat(leftOut()).containsExactly(0L, 0L, 0L, 8L, 0L);
    }

    @Test
    void refusalsOfOnePolicy_leaveOutNoneOfAnother() {
        LiveRules live = new LiveRules(
                "p.limit=1/hour",
                "p.match.paths=/a",
                "ratelimit.policies.q.limit=1/hour",
                "ratelimit.policies.q.match.paths=/b");
        RequestLimiter limiter = publishing(live);

        ask(limiter, 10, get("/a"));
        ask(limiter, 2, get("/b"));

        assertThat(heard).extracting(RateLimitRefusedEvent::policy).containsExactly("p", "p", "p", "q");
    }

    @Test
    void refusals_whileTooManyEventsWait_areCountedByTheNextEvent() {
        LiveRules live = new LiveRules("p.limit=1/hour");
        RequestLimiter limiter = publishing(live);
        full = true;

        ask(limiter, 6, get("/"));
        assertThat(heard).isEmpty();

        full = false;
        live.ticker.advance(Duration.ofSeconds(1));
        ask(limiter, 1, get("/"));
        assertThat(leftOut()).containsExactly(5L);
    }

    private List<Long> leftOut() {
        return heard.stream().map(RateLimitRefusedEvent::leftOut).toList();
    }
}
