package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.test.FakeTicker;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/** What one test does to an application, the next one does not notice. */
@Tag("servers")
class SharedAppsTest extends AppPerTest {

    private static final Duration PATIENCE = Duration.ofMillis(300);

    @Configuration(proxyBeanMethods = false)
    static class Remembering {

        int calls;
    }

    @Test
    void application_withOtherPolicies_isTheSame_andAsGoodAsNew() {
        RunningApp first = start(List.of(TestApi.class), "p.limit=1/hour", "p.algorithm=fixed-window");
        first.get("/orders/1");
        assertThat(first.get("/orders/1").status()).isEqualTo(429);
        first.awaitCounted("p", "refused", 1);
        first.ticker().advance(Duration.ofMinutes(20));

        RunningApp second = start(List.of(TestApi.class), "p.limit=2/hour", "ratelimit.policies.q.limit=3/hour");

        assertThat(second).isSameAs(first);
        assertThat(second.bean(RateLimitPolicies.class).names()).containsExactly("p", "q");
        assertThat(second.counted("p", "refused")).isZero();
        assertThat(second.bean(TestApi.class).reached()).isZero();
        assertThat(second.ticker().epochNanos()).isEqualTo(new FakeTicker().epochNanos());
        assertThat(second.get("/orders/1").status()).isEqualTo(200);
        assertThat(second.get("/orders/1").status()).isEqualTo(200);
        assertThat(second.get("/orders/1").status()).isEqualTo(429);
    }

    @Test
    void application_withOtherProperties_orWithState_orForOneTest_isAnother() {
        RunningApp first = start(List.of(TestApi.class), "p.limit=1/hour");

        assertThat(start(List.of(TestApi.class), "p.limit=1/hour", "ratelimit.headers=none"))
                .isNotSameAs(first);
        RunningApp remembering = start(List.of(TestApi.class, Remembering.class), "p.limit=1/hour");
        assertThat(start(List.of(TestApi.class, Remembering.class), "p.limit=1/hour"))
                .isNotSameAs(remembering);
        assertThat(startOwn(List.of(TestApi.class), "p.limit=1/hour")).isNotSameAs(first);
        assertThat(start(List.of(TestApi.class), "p.limit=2/hour")).isSameAs(first);
    }

    @Test
    void application_thatAnOperatorHasChanged_isNotSharedAnyLonger() {
        RunningApp first = start(List.of(TestApi.class), "p.limit=1/hour");

        first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("5/hour"));
        first.bean(RateLimitPolicies.class).restore("p");

        assertThat(first.isUnchanged(PATIENCE)).isFalse();
        assertThat(start(List.of(TestApi.class), "p.limit=1/hour")).isNotSameAs(first);
    }

    @Test
    void application_whoseEnvironmentATestHasChanged_isNotSharedAnyLonger() {
        RunningApp first = start(List.of(TestApi.class), "p.limit=1/hour");

        first.bean(ConfigurableEnvironment.class)
                .getPropertySources()
                .addFirst(new MapPropertySource("left", Map.of("ratelimit.policies.p.limit", "9/hour")));

        assertThat(start(List.of(TestApi.class), "p.limit=2/hour")).isNotSameAs(first);
    }

    @Test
    void application_whosePoliciesCannotBeRefreshed_isAnother() {
        RunningApp first = start(List.of(TestApi.class), "p.limit=1/hour");

        assertThatThrownBy(() -> start(List.of(TestApi.class), "p.limit=none/hour"))
                .hasStackTraceContaining("'none' is not a whole number of permits");

        assertThat(start(List.of(TestApi.class), "p.limit=1/hour")).isNotSameAs(first);
    }

    @Test
    void request_thatStillWaits_failsTheTest() throws Exception {
        RunningApp waiting = startOwn(
                List.of(TestApi.class), "p.limit=1/minute", "p.on-exceeded.action=wait", "p.on-exceeded.max-wait=1m");
        waiting.get("/orders/1");

        try (Socket client = waiting.client().begin("GET /orders/1 HTTP/1.1")) {
            assertThat(client.isConnected()).isTrue();
            await().until(() -> waiting.bean(WaitingRequests.class).waiting("p") == 1);

            assertThatThrownBy(() -> waiting.isUnchanged(PATIENCE))
                    .isInstanceOf(ConditionTimeoutException.class)
                    .hasMessageContaining("requests still wait");
        }
    }
}
