package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.test.FakeTicker;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What the meters count; no request can add one. */
@Tag("servers")
class MetricsTest {

    /** Reads the meter while its own request holds permits. */
    @RestController
    static class Holding {

        private final MeterRegistry registry;
        private final FakeTicker ticker;

        Holding(MeterRegistry registry, FakeTicker ticker) {
            this.registry = registry;
            this.ticker = ticker;
        }

        @GetMapping("/hold")
        double hold(@RequestParam(defaultValue = "0") long minutes) {
            ticker.advance(Duration.ofMinutes(minutes));
            return registry.get("ratelimit.permits.held")
                    .tag("policy", "each/concurrency")
                    .gauge()
                    .value();
        }

        @GetMapping("/slow")
        String slow() {
            ticker.advance(Duration.ofMinutes(3));
            return "slow";
        }
    }

    @Test
    void permits_areCountedWhileTheyAreHeld_andWhenTheyAreOverdue() {
        try (RunningApp app = RunningApp.start(
                List.of(Holding.class),
                "ratelimit.policies.each.limit=100/hour",
                "ratelimit.policies.each.concurrency=9",
                "ratelimit.policies.each.max-hold=2m",
                "ratelimit.policies.each.permits=#request.getParameter('size') == null ? 1 : 5")) {
            assertThat(app.get("/hold").body()).isEqualTo("1.0");
            awaitNothingHeld(app);
            assertThat(overdue(app)).isZero();
            assertThat(app.get("/hold?minutes=1").body()).isEqualTo("1.0");
            awaitNothingHeld(app);
            assertThat(overdue(app)).isZero();

            assertThat(app.get("/hold?minutes=2").body()).isEqualTo("0.0");
            await().until(() -> overdue(app) == 1);
            app.get("/slow");
            await().until(() -> overdue(app) == 2);
            awaitNothingHeld(app);
        }
    }

    /** The response may arrive before the server has completed the request. */
    private static void awaitNothingHeld(RunningApp app) {
        await().until(() -> gauge(app, "ratelimit.permits.held", "each/concurrency") == 0);
    }

    private static double overdue(RunningApp app) {
        return app.bean(MeterRegistry.class)
                .get("ratelimit.permits.overdue")
                .tag("policy", "each/concurrency")
                .counter()
                .count();
    }

    /** Keeps what the observations of requests knew at their end. */
    @Configuration(proxyBeanMethods = false)
    static class Observed implements ObservationHandler<Observation.Context> {

        final List<String> requests = new CopyOnWriteArrayList<>();

        @Override
        public boolean supportsContext(Observation.Context context) {
            // each web stack has a class of its own with this name
            return context.getClass().getSimpleName().equals("ServerRequestObservationContext");
        }

        @Override
        public void onStop(Observation.Context context) {
            requests.add(context.getHighCardinalityKeyValues().stream()
                    .filter(value -> value.getKey().startsWith("ratelimit."))
                    .map(value -> value.getKey() + "=" + value.getValue())
                    .collect(Collectors.joining(" ")));
        }
    }

    @Test
    void observations_ofRefusedRequests_nameThePolicies() {
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class, Observed.class),
                "ratelimit.policies.wide.limit=2/hour",
                "ratelimit.policies.tight.limit=2/hour",
                "ratelimit.policies.tight.key=header:X-Id",
                "ratelimit.policies.tried.limit=1/hour",
                "ratelimit.policies.tried.mode=shadow")) {
            for (int i = 0; i < 3; i++) {
                app.get("/orders/1", "X-Id: a");
            }

            List<String> requests = app.bean(Observed.class).requests;
            await().until(() -> requests.size() == 3);
            assertThat(requests)
                    .containsExactlyInAnyOrder(
                            "",
                            "ratelimit.shadow-policy=tried",
                            "ratelimit.policy=tight,wide ratelimit.result=refused");
        }
    }

    @Test
    void requests_areCountedByPolicyAndOutcome() {
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class),
                "ratelimit.policies.wide.limit=100/hour",
                "ratelimit.policies.tight.limit=2/hour",
                "ratelimit.policies.tight.key=header:X-Id")) {
            for (int i = 0; i < 5; i++) {
                app.get("/orders/1", "X-Id: a");
            }

            app.awaitCounted("wide", "admitted", 2);
            assertThat(app.counted("wide", "refused")).isZero();
            app.awaitCounted("tight", "admitted", 2);
            app.awaitCounted("tight", "refused", 3);
            assertThat(app.bean(MeterRegistry.class)
                            .get("ratelimit.decision")
                            .tag("store", "memory")
                            .timer()
                            .count())
                    .isEqualTo(5);
        }
    }

    @Test
    void meters_stayTheSame_whateverIsRequested() {
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class),
                "ratelimit.policies.each.limit=2/hour",
                "ratelimit.policies.each.key=header:X-Id, endpoint")) {
            app.get("/orders/0", "X-Id: 0");
            long meters = meters(app);

            for (int i = 0; i < 100; i++) {
                app.get("/orders/" + i + "/nowhere/" + i, "X-Id: " + i);
            }

            assertThat(meters(app)).isEqualTo(meters);
        }
    }

    @Test
    void store_inMemory_isMeasuredByPolicy() {
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class),
                "ratelimit.policies.each.limit=1/hour",
                "ratelimit.policies.each.key=header:X-Id",
                "ratelimit.policies.each.max-keys=2")) {
            assertThat(gauge(app, "ratelimit.keys")).isZero();

            for (int i = 0; i < 5; i++) {
                app.get("/orders/1", "X-Id: " + i);
            }

            assertThat(gauge(app, "ratelimit.keys")).isEqualTo(2);
            assertThat(gauge(app, "ratelimit.memory")).isBetween(32.0, 1000.0);
            assertThat(evicted(app, "full")).isZero();
            // exhausted keys stay in memory
            assertThat(evicted(app, "active")).isZero();
        }
    }

    private static double gauge(RunningApp app, String name) {
        return gauge(app, name, "each");
    }

    private static double gauge(RunningApp app, String name, String policy) {
        return app.bean(MeterRegistry.class)
                .get(name)
                .tag("policy", policy)
                .gauge()
                .value();
    }

    private static double evicted(RunningApp app, String state) {
        return app.bean(MeterRegistry.class)
                .get("ratelimit.evictions")
                .tag("policy", "each")
                .tag("state", state)
                .functionCounter()
                .count();
    }

    private static long meters(RunningApp app) {
        return app.bean(MeterRegistry.class).getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().startsWith("ratelimit."))
                .count();
    }
}
