package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.spring.RateLimitStoreEvent;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Several instances with one Redis, and without it. */
@Tag("servers")
class SharedStoreTest {

    /** The number of failures after which the server is not used. */
    private static final int FAILURES = 10;

    private static final Policy WARM_UP = Policy.of("warm-up", TokenBucket.of(Rate.parse("1/hour")));

    @Started
    private RedisServer server;

    private final List<RunningApp> apps = new ArrayList<>();
    private boolean up = true;

    @AfterEach
    void stop() {
        apps.forEach(RunningApp::close);
    }

    /** Starts an instance with timeouts for a slow machine. */
    private RunningApp start(List<Class<?>> sources, String... properties) {
        String[] all = Stream.concat(
                        Stream.of(
                                "ratelimit.store.type=redis",
                                "ratelimit.store.redis.deadline=10s",
                                "spring.data.redis.port=" + server.port()),
                        Stream.of(properties))
                .toArray(String[]::new);
        RunningApp app = RunningApp.start(sources, all);
        apps.add(app);
        if (up) {
            awaitConnection(app);
        }
        return app;
    }

    /** On a slow machine, an attempt may take longer than the store's timeout. */
    private static void awaitConnection(RunningApp app) {
        RedisStore store = app.bean(RedisStore.class);
        await().until(() -> RedisStore.decidedByRedis(store.peek(List.of(WARM_UP.charge()))));
    }

    private RunningApp start(String... properties) {
        return start(List.of(TestApi.class), properties);
    }

    @Test
    void twoInstances_haveOneBudget() {
        String[] policy = {"ratelimit.policies.each.limit=5/hour", "ratelimit.policies.each.key=ip"};
        RunningApp first = start(policy);
        RunningApp second = start(policy);

        for (int left = 4; left >= 0; left--) {
            RawResponse response = (left % 2 == 0 ? first : second).get("/any");
            assertThat(response.status()).isEqualTo(200);
            assertThat(response.header("RateLimit")).startsWith("\"each\";r=" + left + ";");
        }
        RawResponse refused = second.get("/any");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body()).contains("\"violated-policies\":[\"each\"]");
        assertThat(first.get("/any").status()).isEqualTo(429);
        // the second time the refusal is cached, and the response is the same
        assertThat(second.get("/any").header("RateLimit")).isEqualTo(refused.header("RateLimit"));
    }

    @Test
    @Tag("slow")
    @DisplayName("F15 applications with different prefixes share nothing, and policies do not mix")
    void anotherPrefix_isAnotherBudget() {
        RunningApp shop = start("ratelimit.policies.a.limit=1/hour", "ratelimit.policies.b.limit=2/hour");
        RunningApp blog = start("ratelimit.policies.a.limit=1/hour", "ratelimit.store.redis.prefix=blog");

        assertThat(shop.get("/any").status()).isEqualTo(200);
        assertThat(blog.get("/any").status()).isEqualTo(200);
        assertThat(shop.get("/any").body()).contains("\"violated-policies\":[\"a\"]");
        List<String> keys = server.ask(redis -> redis.keys("*"));
        assertThat(keys).hasSize(3 + 2).contains("ratelimit:{changes}:version", "blog:{changes}:version");
    }

    @Test
    void deny_withoutRedis_is503_andSaysNothingOfIt() {
        RunningApp app = start(
                "ratelimit.policies.each.limit=5/hour",
                "ratelimit.policies.each.key=ip",
                "ratelimit.policies.each.on-store-failure=deny",
                "ratelimit.policies.each.retry-jitter.max=0s",
                "ratelimit.response.detail=Too much.");
        assertThat(app.get("/any").status()).isEqualTo(200);
        server.kill();

        RawResponse denied = app.get("/any", "Accept: text/html");

        assertThat(denied.status()).isEqualTo(503);
        assertThat(denied.header("Retry-After")).isEqualTo("1");
        assertThat(denied.header("Cache-Control")).isEqualTo("no-store");
        assertThat(denied.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(denied.header("RateLimit")).isNull();
        assertThat(denied.body())
                .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity\","
                        + "\"title\":\"Service Unavailable\",\"status\":503,"
                        + "\"detail\":\"This request cannot be checked at the moment. Retry after 1 second.\","
                        + "\"retry-after\":1}");
        assertThat(app.bean(TestApi.class).reached()).isEqualTo(1);
        app.awaitCounted("each", "unavailable", 1);
        assertThat(app.counted("each", "refused")).isZero();
    }

    @Test
    @Tag("slow")
    void deny_afterSecurity_refundsWhatWasChargedBefore() {
        RunningApp app = start(
                List.of(TestApi.class, RunningApp.WithSecurity.class, RunningApp.Alice.class),
                "ratelimit.policies.address.limit=2/hour",
                "ratelimit.policies.address.key=ip",
                "ratelimit.policies.user.limit=100/hour",
                "ratelimit.policies.user.key=user",
                "ratelimit.policies.user.on-store-failure=deny");
        server.kill();

        for (int i = 0; i < 5; i++) {
            assertThat(app.getAs("alice", "/any").status()).isEqualTo(503);
        }

        app.awaitCounted("user", "unavailable", 5);
        assertThat(app.counted("address", "admitted")).isZero();
    }

    @Test
    void allow_withoutRedis_passes_andOtherPoliciesHold() {
        RunningApp app = start(
                "ratelimit.headers=both",
                "ratelimit.policies.open.limit=1/hour",
                "ratelimit.policies.open.key=ip",
                "ratelimit.policies.open.on-store-failure=allow",
                "ratelimit.policies.own.limit=3/hour",
                "ratelimit.policies.own.key=ip, method");
        server.kill();

        RawResponse passed = app.get("/any");
        app.get("/any");
        app.get("/any");
        RawResponse refused = app.get("/any");

        assertThat(passed.status()).isEqualTo(200);
        assertThat(passed.header("RateLimit")).startsWith("\"own\";r=2;");
        assertThat(passed.header("X-RateLimit-Remaining")).isEqualTo("2");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body()).contains("\"violated-policies\":[\"own\"]");
    }

    @Test
    void local_withoutRedis_permitsAShareOfTheLimit() {
        RunningApp app = start(
                "ratelimit.policies.each.limit=10/hour",
                "ratelimit.policies.each.key=ip",
                "ratelimit.store.redis.local-share=0.2");
        server.kill();

        assertThat(app.get("/any").header("RateLimit")).startsWith("\"each\";r=1;");
        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(429);
    }

    @Test
    @Tag("slow")
    @DisplayName("E21 an application starts without Redis, and is exact once Redis is available")
    void redisDownAtTheStart_isNoHindrance() {
        server.kill();
        up = false;
        String[] policy = {
            "ratelimit.policies.each.limit=100/hour",
            "ratelimit.policies.each.key=ip",
            "ratelimit.store.redis.deny-cache=0"
        };
        RunningApp first = start(policy);
        RunningApp second = start(policy);
        assertThat(first.get("/any").header("RateLimit")).startsWith("\"each\";r=99;");
        assertThat(second.get("/any").header("RateLimit")).startsWith("\"each\";r=99;");

        server.restart();
        apps.forEach(app -> app.ticker().advance(Duration.ofSeconds(2)));
        apps.forEach(SharedStoreTest::awaitConnection);

        assertThat(first.get("/any").header("RateLimit")).startsWith("\"each\";r=99;");
        assertThat(second.get("/any").header("RateLimit")).startsWith("\"each\";r=98;");
    }

    @Test
    @Tag("slow")
    void outage_isMeasured_withoutFurtherMeters() {
        RunningApp app = start("ratelimit.policies.each.limit=100/hour");
        app.get("/any");
        MeterRegistry registry = app.bean(MeterRegistry.class);
        List<Meter.Id> meters = ours(registry);
        assertThat(registry.get("ratelimit.store.state").gauge().value()).isEqualTo(1);
        server.kill();

        for (int i = 0; i < FAILURES + 5; i++) {
            assertThat(app.get("/any").status()).isEqualTo(200);
        }

        assertThat(registry.get("ratelimit.store.state").gauge().value()).isZero();
        assertThat(failures(registry, "connection")).isEqualTo(FAILURES);
        assertThat(failures(registry, "open")).isEqualTo(5);
        assertThat(ours(registry)).isEqualTo(meters);
    }

    @Configuration(proxyBeanMethods = false)
    static class Outages {

        final List<RateLimitStoreEvent> heard = new CopyOnWriteArrayList<>();

        @EventListener
        void hear(RateLimitStoreEvent event) {
            heard.add(event);
        }
    }

    @Test
    @Tag("slow")
    void outage_andItsEnd_areEvents() {
        RunningApp app = start(List.of(TestApi.class, Outages.class), "ratelimit.policies.each.limit=100/hour");
        app.get("/any");
        List<RateLimitStoreEvent> heard = app.bean(Outages.class).heard;
        server.kill();

        for (int i = 0; i < FAILURES + 5; i++) {
            app.get("/any");
        }
        await().until(() -> !heard.isEmpty());
        assertThat(heard).containsExactly(new RateLimitStoreEvent(false, "connection"));

        server.restart();
        app.ticker().advance(Duration.ofSeconds(2));
        awaitConnection(app);
        await().until(() -> heard.size() > 1);
        assertThat(heard).last().isEqualTo(new RateLimitStoreEvent(true, null));
    }

    private static double failures(MeterRegistry registry, String reason) {
        return registry.get("ratelimit.store.failures")
                .tag("reason", reason)
                .counter()
                .count();
    }

    private static List<Meter.Id> ours(MeterRegistry registry) {
        return registry.getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().startsWith("ratelimit."))
                .toList();
    }

    private static JsonNode json(RawResponse answer) {
        String body = answer.body();
        return JsonMapper.shared().readTree(body.substring(body.indexOf('{'), body.lastIndexOf('}') + 1));
    }

    @Test
    @Tag("slow")
    void health_isDegraded_neverDown() {
        RunningApp app = start(
                "ratelimit.policies.each.limit=100/hour",
                "ratelimit.exempt.paths=/actuator/**",
                "management.endpoint.health.show-details=always");
        app.get("/any");
        JsonNode healthy = json(app.get("/actuator/health")).at("/components/rateLimitStore");
        assertThat(healthy.at("/status").asString()).isEqualTo("UP");
        assertThat(healthy.at("/details/decides").asString()).isEqualTo("Redis");
        server.kill();
        for (int i = 0; i < FAILURES; i++) {
            app.get("/any");
        }

        RawResponse whole = app.get("/actuator/health");
        RawResponse part = app.get("/actuator/health/rateLimitStore");

        assertThat(whole.status()).isEqualTo(200);
        assertThat(json(whole).at("/status").asString()).isEqualTo("UP");
        assertThat(whole.body()).contains("\"status\":\"DEGRADED\"");
        assertThat(whole.body()).doesNotContain("DOWN");
        assertThat(part.status()).isEqualTo(200);
        assertThat(part.body()).contains("\"status\":\"DEGRADED\"").contains("on-store-failure of each policy");
    }
}
