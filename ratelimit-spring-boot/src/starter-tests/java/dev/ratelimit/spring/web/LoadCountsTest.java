package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.boot.actuate.ActuatorClient;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The metrics and the actuator count a load as a model does that knows nothing of this library. */
@Tag("servers")
class LoadCountsTest {

    private static final int NOW = 5;
    private static final int SHADOW = 3;

    private final Map<String, Integer> usedNow = new HashMap<>();
    private final Map<String, Integer> usedInShadow = new HashMap<>();
    private final Map<String, Long> truth = new TreeMap<>();

    private void count(String endpoint, String policy, String outcome) {
        truth.merge(endpoint + ", " + policy + ", " + outcome, 1L, Long::sum);
    }

    private void add(String endpoint, String caller) {
        if (usedNow.getOrDefault(caller, 0) == NOW) {
            count(endpoint, "p", "refused");
            return;
        }
        usedNow.merge(caller, 1, Integer::sum);
        count(endpoint, "p", "admitted");
        if (usedInShadow.getOrDefault(caller, 0) == SHADOW) {
            count(endpoint, "s", "shadow-refused");
        } else {
            usedInShadow.merge(caller, 1, Integer::sum);
            count(endpoint, "s", "admitted");
        }
    }

    /** Sums of the model over all endpoints. */
    private long sum(String policy, String outcome) {
        return truth.entrySet().stream()
                .filter(one -> one.getKey().endsWith(", " + policy + ", " + outcome))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    private Map<String, Long> countedByEndpoint(RunningApp app) {
        Map<String, Long> counted = new TreeMap<>();
        for (Counter counter : app.bean(MeterRegistry.class)
                .find("ratelimit.endpoint.requests")
                .counters()) {
            String name = String.join(
                    ", ",
                    counter.getId().getTag("endpoint"),
                    counter.getId().getTag("policy"),
                    counter.getId().getTag("outcome"));
            counted.put(name, (long) counter.count());
        }
        return counted;
    }

    @Test
    void load_ofManyCallers_isCountedExactly() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        try (RunningApp app = RunningApp.start(
                List.of(TestApi.class),
                "management.endpoints.web.exposure.include=ratelimits",
                "ratelimit.metrics.endpoints=true",
                "ratelimit.policies.p.limit=" + NOW + "/hour",
                "ratelimit.policies.p.key=header:X-Id",
                "ratelimit.policies.s.limit=" + SHADOW + "/hour",
                "ratelimit.policies.s.key=header:X-Id",
                "ratelimit.policies.s.mode=shadow")) {
            for (int i = 0; i < 600; i++) {
                String caller = "c" + (int) Math.pow(500, random.nextDouble());
                String[] target = random.nextBoolean()
                        ? new String[] {"/orders/" + i, "GET /orders/{id}"}
                        : new String[] {"/any", "ANY /any"};
                app.get(target[0], "X-Id: " + caller);
                add(target[1], caller);
            }

            for (String policy : List.of("p", "s")) {
                for (String outcome : List.of("admitted", "refused", "shadow-refused")) {
                    app.awaitCounted(policy, outcome, sum(policy, outcome));
                }
            }
            assertThat(countedByEndpoint(app)).as("seed %s", seed).isEqualTo(truth);
            var counts = new ActuatorClient(app).get("/s").json().get("counts");
            assertThat(counts.get("shadow-refused").asLong()).isEqualTo(sum("s", "shadow-refused"));
            assertThat(counts.get("admitted").asLong()).isEqualTo(sum("s", "admitted"));
        }
    }
}
