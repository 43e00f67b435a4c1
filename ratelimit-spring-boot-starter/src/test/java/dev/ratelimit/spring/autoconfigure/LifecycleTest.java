package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.test.FakeTicker;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Metrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** Applications that start and stop, one after another and at the same time. */
@Tag("slow")
class LifecycleTest {

    private static final String[] POLICY = {
        "ratelimit.policies.each.limit=2/hour", "ratelimit.policies.each.key=ip",
    };

    private static final AutoConfigurations AUTO = OnBoot.webMvc(RateLimitAutoConfiguration.class);

    private static void startAskStop() {
        try (RunningApp app = RunningApp.start(List.of(TestApi.class), POLICY)) {
            assertThat(app.get("/any").status()).isEqualTo(200);
            assertThat(app.get("/any").status()).isEqualTo(200);
            assertThat(app.get("/any").status()).isEqualTo(429);
        }
    }

    @Test
    @DisplayName("H7 servers that start and stop leave no threads and no registries")
    void server_startedAndClosedOften_leavesNoThreadAndNoRegistry() throws InterruptedException {
        startAskStop();
        Set<Thread> threads = threads();
        int registries = Metrics.globalRegistry.getRegistries().size();

        for (int i = 0; i < 10; i++) {
            startAskStop();
        }

        assertThat(leftOver(threads)).isEmpty();
        assertThat(Metrics.globalRegistry.getRegistries()).hasSize(registries);
    }

    @Test
    @DisplayName("H7 contexts that start and stop leave no thread, no store, and the meters of one")
    void context_startedAndClosedOften_leavesWhatOneLeaves() throws InterruptedException {
        MeterRegistry kept = new SimpleMeterRegistry();
        List<WeakReference<RateLimitStore>> stores = new ArrayList<>();
        startChargeStop(kept, stores);
        Set<Thread> threads = threads();
        Set<Meter.Id> meters = meters(kept);

        for (int i = 1; i < 15; i++) {
            startChargeStop(kept, stores);
        }

        // one for decisions, and one for each outcome
        assertThat(meters(kept)).isEqualTo(meters).hasSize(1 + OutcomeCounter.Outcome.values().length);
        assertThat(kept.get("ratelimit.requests")
                        .tag("outcome", "admitted")
                        .counter()
                        .count())
                .isEqualTo(15);
        assertThat(leftOver(threads)).isEmpty();
        for (int i = 0; i < 10 && stores.stream().anyMatch(store -> store.get() != null); i++) {
            System.gc();
        }
        assertThat(stores).hasSize(15).allMatch(store -> store.get() == null);
    }

    /** With the system's ticker, whose alarm for the store is still set when the context is closed. */
    private static void startChargeStop(MeterRegistry kept, List<WeakReference<RateLimitStore>> stores) {
        new WebApplicationContextRunner()
                .withConfiguration(AUTO)
                .withBean(MeterRegistry.class, () -> kept, definition -> definition.setDestroyMethodName(""))
                .withPropertyValues(POLICY)
                .run(context -> {
                    FilterRegistrationBean<?> filter =
                            context.getBean(RateLimitFilterConfiguration.FILTER, FilterRegistrationBean.class);
                    Objects.requireNonNull(filter.getFilter())
                            .doFilter(
                                    new MockHttpServletRequest(), new MockHttpServletResponse(), new MockFilterChain());
                    stores.add(new WeakReference<>(context.getBean(RateLimitStore.class)));
                });
    }

    @Test
    @DisplayName("H7 the alarm of a closed application rings at most once more")
    void context_closed_leavesNoAlarm() {
        FakeTicker ticker;
        try (RunningApp app = RunningApp.start(List.of(TestApi.class), POLICY)) {
            app.get("/any");
            ticker = app.ticker();
            assertThat(ticker.alarms()).isEqualTo(1);
        }

        ticker.advance(Duration.ofMinutes(1));

        assertThat(ticker.alarms()).isZero();
    }

    @Test
    @DisplayName("H9 two applications of one JVM share no budget and no counter, whatever their policies are called")
    void applications_ofOneJvm_shareNothing() {
        try (RunningApp second = RunningApp.start(List.of(TestApi.class), POLICY)) {
            try (RunningApp first = RunningApp.start(List.of(TestApi.class), POLICY)) {
                for (int i = 0; i < 5; i++) {
                    first.get("/any");
                }
                assertThat(first.counted("each", "refused")).isEqualTo(3);
                assertThat(second.counted("each", "refused")).isZero();
                assertThat(second.get("/any").status()).isEqualTo(200);
            }

            assertThat(second.get("/any").status()).isEqualTo(200);
            assertThat(second.get("/any").status()).isEqualTo(429);
            second.ticker().advance(Duration.ofHours(1));
            assertThat(second.get("/any").status()).isEqualTo(200);
            assertThat(second.bean(InMemoryStore.class).keys("each")).isEqualTo(1);
        }
    }

    private static Set<Meter.Id> meters(MeterRegistry registry) {
        return registry.getMeters().stream().map(Meter::getId).collect(Collectors.toSet());
    }

    /** All threads except the JDK's own, which the JVM has once: the pool that alarms run on, and its timer. */
    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("ForkJoinPool.commonPool-"))
                .filter(thread -> !thread.getName().equals("CompletableFutureDelayScheduler"))
                .collect(Collectors.toSet());
    }

    /** The threads that were not there before, after expiring ones have ended. */
    private static List<Thread> leftOver(Set<Thread> before) throws InterruptedException {
        List<Thread> left = new ArrayList<>();
        for (Thread thread : threads()) {
            if (!before.contains(thread)) {
                thread.join(10_000);
                if (thread.isAlive()) {
                    left.add(thread);
                }
            }
        }
        return left;
    }
}
