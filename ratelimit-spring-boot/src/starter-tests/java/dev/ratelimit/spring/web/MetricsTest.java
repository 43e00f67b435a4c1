package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.test.FakeTicker;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

    private static double counted(RunningApp app, String endpoint, String policy, String outcome) {
        return app
                .bean(MeterRegistry.class)
                .find("ratelimit.endpoint.requests")
                .tags("endpoint", endpoint, "policy", policy, "outcome", outcome)
                .counters()
                .stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void requests_byEndpoint_areCountedOnlyIfSwitchedOn() {
        String[] policies = {
            "ratelimit.policies.wide.limit=100/hour",
            "ratelimit.policies.tight.limit=2/hour",
            "ratelimit.policies.tight.key=header:X-Id"
        };
        try (RunningApp app = RunningApp.start(List.of(TestApi.class), policies)) {
            app.get("/orders/1", "X-Id: a");
            app.awaitCounted("wide", "admitted", 1);
            assertThat(app.bean(MeterRegistry.class)
                            .find("ratelimit.endpoint.requests")
                            .counters())
                    .isEmpty();
        }
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class),
                Stream.concat(Stream.of(policies), Stream.of("ratelimit.metrics.endpoints=true"))
                        .toArray(String[]::new))) {
            for (int i = 0; i < 3; i++) {
                app.get("/orders/" + i, "X-Id: a");
            }
            app.get("/any", "X-Id: a");
            app.get("/nowhere/at/all", "X-Id: b");

            app.awaitCounted("wide", "admitted", 3);
            app.awaitCounted("tight", "refused", 2);
            assertThat(counted(app, "GET /orders/{id}", "wide", "admitted")).isEqualTo(2);
            assertThat(counted(app, "GET /orders/{id}", "tight", "admitted")).isEqualTo(2);
            assertThat(counted(app, "GET /orders/{id}", "tight", "refused")).isEqualTo(1);
            assertThat(counted(app, "GET /orders/{id}", "wide", "refused")).isZero();
            assertThat(counted(app, "ANY /any", "tight", "refused")).isEqualTo(1);
            assertThat(counted(app, "nowhere", "tight", "admitted")).isEqualTo(1);
        }
    }

    @Test
    void requests_toMoreEndpointsThanTheMaximum_areCountedAsOther() {
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class),
                "ratelimit.metrics.endpoints=true",
                "ratelimit.metrics.max-endpoints=1",
                "ratelimit.policies.each.limit=100/hour")) {
            app.get("/orders/1");
            app.get("/any");
            app.get("/nowhere/at/all");
            app.get("/orders/2");

            app.awaitCounted("each", "admitted", 4);
            assertThat(counted(app, "GET /orders/{id}", "each", "admitted")).isEqualTo(2);
            assertThat(counted(app, "other", "each", "admitted")).isEqualTo(2);
            assertThat(app.bean(MeterRegistry.class)
                            .find("ratelimit.endpoint.requests")
                            .counters())
                    .hasSize(2);
        }
    }

    /** Those that the server has measured with this status, by path pattern. */
    private static List<String> refusedUris(RunningApp app) {
        return app.bean(MeterRegistry.class).find("http.server.requests").tag("status", "429").timers().stream()
                .map(timer -> timer.getId().getTag("uri"))
                .toList();
    }

    private static List<String> uriOfARefusal(String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add("ratelimit.policies.p.limit=1/hour");
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class, RunningApp.WithSecurity.class, RunningApp.Alice.class),
                all.toArray(String[]::new))) {
            assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(200);
            assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(429);
            await().until(() -> !refusedUris(app).isEmpty());
            return refusedUris(app);
        }
    }

    @Test
    void refusals_areMeasuredUnderTheirPattern_ifTheEndpointWasLookedUp() {
        assertThat(uriOfARefusal("ratelimit.policies.p.key=endpoint", "ratelimit.policies.p.stage=before-security"))
                .containsExactly("/orders/{id}");
        assertThat(uriOfARefusal("ratelimit.policies.p.key=user, endpoint")).containsExactly("/orders/{id}");
        assertThat(uriOfARefusal("ratelimit.policies.p.key=ip", "ratelimit.metrics.endpoints=true"))
                .containsExactly("/orders/{id}");
        assertThat(uriOfARefusal("ratelimit.policies.p.key=ip")).containsExactly("UNKNOWN");
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
            // meters refer weakly to what they measure
            System.gc();
            assertThat(added(app)).isEqualTo(2);

            app.ticker().advance(Duration.ofHours(2));
            app.get("/orders/1", "X-Id: new");
            app.get("/orders/1", "X-Id: new");
            assertThat(added(app)).isEqualTo(3);
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

    private static double added(RunningApp app) {
        return app.bean(MeterRegistry.class)
                .get("ratelimit.keys.added")
                .tag("policy", "each")
                .functionCounter()
                .count();
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
