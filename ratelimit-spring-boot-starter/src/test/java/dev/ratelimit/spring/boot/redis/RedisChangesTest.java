package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.boot.actuate.ActuatorClient;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Changes of policies while several instances run on one Redis. Budgets are so slow that the time does not matter. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
@Tag("slow")
class RedisChangesTest {

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    @Started
    private RedisServer server;

    private final List<RunningApp> apps = new ArrayList<>();

    @AfterEach
    void stop() {
        apps.forEach(RunningApp::close);
    }

    private RunningApp start(String... properties) {
        return startOn("spring.data.redis.port=" + server.port(), properties);
    }

    private RunningApp startOn(String redis, String... properties) {
        return startOn(List.of(TestApi.class), redis, properties);
    }

    private RunningApp startOn(List<Class<?>> sources, String redis, String... properties) {
        RunningApp app = RunningApp.start(
                sources,
                Stream.concat(
                                Stream.of(
                                        redis,
                                        "ratelimit.store.type=redis",
                                        "ratelimit.store.redis.deadline=10s",
                                        "ratelimit.policies.p.limit=1000/day",
                                        "ratelimit.policies.q.limit=5000/day",
                                        "management.endpoints.web.exposure.include=ratelimits",
                                        "management.endpoint.ratelimits.access=unrestricted"),
                                Stream.of(properties))
                        .toArray(String[]::new));
        apps.add(app);
        return app;
    }

    private List<String> keys() {
        return server.ask(redis -> redis.keys("*{changes}*"));
    }

    private static TokenBucket limit(RunningApp app) {
        return (TokenBucket)
                app.bean(RateLimitPolicies.class).policy("p").limits().get(0);
    }

    private static TokenBucket bucket(String rate) {
        return TokenBucket.of(Rate.parse(rate));
    }

    /** The next time that each instance reads, it knows these changes. */
    private static void awaitSame(RunningApp first, RunningApp... others) {
        ChangeStore.Contents contents = contents(first);
        for (RunningApp other : others) {
            await().until(() -> {
                other.ticker().advance(INTERVAL);
                return contents(other).equals(contents);
            });
        }
    }

    private static ChangeStore.Contents contents(RunningApp app) {
        return app.bean(ChangeStore.class).contents();
    }

    private static int admitted(int requests, RunningApp... apps) {
        int admitted = 0;
        for (int i = 0; i < requests; i++) {
            admitted += apps[i % apps.length].get("/any").status() == 200 ? 1 : 0;
        }
        return admitted;
    }

    @Test
    void limit_changedByTheActuator_isInForceOnAllInstances_andBackWithoutABurst() {
        RunningApp first = start();
        RunningApp second = start();
        assertThat(admitted(100, first, second)).isEqualTo(100);

        assertThat(new ActuatorClient(first)
                        .post("/p", Map.of("limit", "100/day"))
                        .status())
                .isEqualTo(200);

        // a tenth of what was used is used: 10 of 100
        assertThat(admitted(60, first)).isEqualTo(60);
        awaitSame(first, second);
        assertThat(limit(second)).isEqualTo(bucket("100/day"));
        assertThat(admitted(60, first, second)).isBetween(30, 31);

        new ActuatorClient(second).post("/p", Map.of("restore", true));
        awaitSame(second, first);
        assertThat(limit(first)).isEqualTo(bucket("1000/day"));
        assertThat(admitted(20, first, second)).isLessThanOrEqualTo(10);
    }

    @Test
    void history_isThatOfAllInstances_survivesTheRestartOfOne_andALossOfData() {
        RunningApp first = start();
        RunningApp second = start();
        new ActuatorClient(first).post("/p", Map.of("limit", "100/day", "duration", "1h", "reason", "release"));
        awaitSame(first, second);
        new ActuatorClient(second).post("/q", Map.of("mode", "shadow"));
        awaitSame(second, first);

        RunningApp third = start();
        apps.remove(first);
        first.close();
        assertThat(history(third))
                .extracting(HistoryEntry::policy, HistoryEntry::reason)
                .containsExactly(tuple("q", null), tuple("p", "release"));

        server.ask(redis -> redis.flushall());
        await().until(() -> {
            second.ticker().advance(INTERVAL);
            return server.ask(redis -> redis.exists("ratelimit:{changes}:history")) == 1;
        });
        assertThat(history(start())).isEqualTo(history(second)).hasSize(2);
        long left = server.ask(redis -> redis.pttl("ratelimit:{changes}:history"));
        assertThat(left).isBetween(1L, 30_000L);
        assertThat(new ActuatorClient(second)
                        .get("/p/history")
                        .json()
                        .get("holds")
                        .asString())
                .isEqualTo("on all instances, until the last of them stops");
    }

    private static List<HistoryEntry> history(RunningApp app) {
        return app.bean(RateLimitPolicies.class).history(10);
    }

    @Test
    void deploymentOfAnotherValue_ofAChangedPolicy_isToldAtTheStart(CapturedOutput output) {
        RunningApp first = start();
        new ActuatorClient(first).post("/p", Map.of("limit", "100/day", "reason", "release"));

        RunningApp deployed = start("ratelimit.policies.p.limit=2000/day");

        assertThat(output)
                .contains(
                        "Rate limit 'p' does not have the limit that is configured now: 2000/day. In force is 100/day,"
                                + " which 'anonymous' has set at ")
                .contains("because of 'release', when 1000/day was configured");
        assertThat(new ActuatorClient(deployed)
                        .get("/p")
                        .json()
                        .get("changes")
                        .get(0)
                        .get("configuredNow")
                        .asString())
                .isEqualTo("2000/day");
    }

    @Test
    void endpoint_saysHowLongAChangeLasts_andRefusesAWrongOne() {
        RunningApp first = start();
        ActuatorClient actuator = new ActuatorClient(first);

        assertThat(actuator.get("").json().get("changesLast").asString())
                .isEqualTo("on all instances, until the last of them stops, which returns to the configuration");
        assertThat(actuator.post("/p", Map.of("limit", "100/eternity", "mode", "off"))
                        .status())
                .isEqualTo(400);
        assertThat(contents(first).history()).isEmpty();
    }

    /** As a missing class may, or a full heap. */
    @Configuration(proxyBeanMethods = false)
    static class Poison {

        private final AtomicBoolean thrown = new AtomicBoolean();

        @Bean
        MeterFilter poison() {
            return new MeterFilter() {

                @Override
                public MeterFilterReply accept(Meter.Id id) {
                    if ("extra-by-address".equals(id.getTag("policy")) && thrown.compareAndSet(false, true)) {
                        throw new NoClassDefFoundError("of the application");
                    }
                    return MeterFilterReply.NEUTRAL;
                }
            };
        }
    }

    @Test
    void instance_whereAnErrorEndsARead_readsAgain() {
        RunningApp first = start();
        RunningApp second = startOn(List.of(TestApi.class, Poison.class), "spring.data.redis.port=" + server.port());

        first.bean(RateLimitPolicies.class)
                .change("extra-by-address", RateLimitChange.toLimit("10/minute").onPaths("/any"));

        await().until(() -> {
            second.ticker().advance(INTERVAL);
            return second.bean(Poison.class).thrown.get();
        });
        first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("100/day"));
        await().until(() -> {
            second.ticker().advance(INTERVAL);
            return limit(second).equals(bucket("100/day"));
        });
        assertThat(second.bean(RateLimitPolicies.class).policy("extra-by-address"))
                .isNotNull();
    }

    @Test
    void instance_thatStartsLater_hasTheChange_andTheLastTakesItAway() {
        RunningApp first = start();
        first.bean(RateLimitPolicies.class).change("p", new RateLimitChange("100/day", 7L, Mode.SHADOW));

        RunningApp second = start();
        assertThat(limit(second)).isEqualTo(TokenBucket.of(Rate.parse("100/day"), 7));
        assertThat(second.bean(RateLimitPolicies.class).mode("p")).isEqualTo(Mode.SHADOW);
        first.close();
        RunningApp third = start();
        assertThat(third.bean(RateLimitPolicies.class).mode("p")).isEqualTo(Mode.SHADOW);
        second.close();
        third.close();

        assertThat(keys()).isEmpty();
        assertThat(limit(start())).isEqualTo(bucket("1000/day"));
    }

    @Test
    void redisWithoutAnAnswer_leavesWhatIsInForce_andRefusesChanges() {
        RunningApp first = start();
        RateLimitPolicies policies = first.bean(RateLimitPolicies.class);
        policies.change("p", RateLimitChange.toLimit("100/day"));
        server.kill();

        assertThatThrownBy(() -> policies.change("p", RateLimitChange.toLimit("50/day")))
                .isInstanceOf(IllegalStateException.class);
        ActuatorClient.Answer answer = new ActuatorClient(first).post("/p", Map.of("restore", true));
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.json().get("error").asString()).contains("Redis").contains("nothing is changed");
        for (int i = 0; i < 5; i++) {
            first.ticker().advance(INTERVAL);
        }
        assertThat(limit(first)).isEqualTo(bucket("100/day"));
    }

    @Test
    void redisThatRefusesToWrite_isReadAllTheSame() {
        RunningApp first = start("ratelimit.policies.k.limit=1000/day", "ratelimit.policies.k.key=header:X-Id");
        first.bean(RateLimitPolicies.class).override("k", "mallory", KeyOverride.blocked());
        String bytes = server.ask(redis -> redis.configGet("maxmemory").get("maxmemory"));
        try {
            server.ask(redis -> redis.configSet("maxmemory", "1"));
            assertThatThrownBy(() -> first.bean(RateLimitPolicies.class).override("k", "bob", KeyOverride.blocked()))
                    .isInstanceOf(IllegalStateException.class);

            RunningApp second = start("ratelimit.policies.k.limit=1000/day", "ratelimit.policies.k.key=header:X-Id");

            assertThat(second.bean(RateLimitPolicies.class).overrides("k")).hasSize(1);
        } finally {
            server.ask(redis -> redis.configSet("maxmemory", bytes));
        }
    }

    @Test
    void redisThatLostItsData_getsTheChangesBack() {
        RunningApp first = start();
        first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("100/day"));

        server.restart();

        await().until(() -> {
            first.ticker().advance(INTERVAL);
            return !keys().isEmpty();
        });
        assertThat(limit(start())).isEqualTo(bucket("100/day"));
        first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("50/day"));
        assertThat(limit(start())).isEqualTo(bucket("50/day"));
    }

    @Test
    void instance_thatStartsWithoutRedis_getsTheChangesLater() {
        RunningApp first = start();
        first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("100/day"));
        int port = server.port();
        server.kill();
        RunningApp second = start();
        assertThat(limit(second)).isEqualTo(bucket("1000/day"));

        server.restart();
        await().until(() -> {
            first.ticker().advance(INTERVAL);
            return !keys().isEmpty();
        });
        awaitSame(first, second);

        assertThat(limit(second)).isEqualTo(bucket("100/day"));
        assertThat(server.port()).isEqualTo(port);
    }

    @Test
    void override_isThatOfAllInstances_survivesALoss_andAForeignValue_andGoesWithTheLast() {
        RunningApp first = start("ratelimit.policies.k.limit=1000/day", "ratelimit.policies.k.key=header:X-Id");
        RunningApp second = start("ratelimit.policies.k.limit=1000/day", "ratelimit.policies.k.key=header:X-Id");
        ActuatorClient.Answer answer = new ActuatorClient(first)
                .post("/k/overrides", Map.of("key", "mallory", "limit", "blocked", "duration", "2h"));

        assertThat(answer.json().get("holds").asString()).isEqualTo("on all instances, until the last of them stops");
        awaitSame(first, second);
        assertThat(second.get("/any", "X-Id: mallory").status()).isEqualTo(429);
        assertThat(second.get("/any", "X-Id: alice").status()).isEqualTo(200);

        for (Runnable loss : List.<Runnable>of(
                () -> server.ask(redis -> redis.flushall()),
                () -> server.ask(redis -> redis.set("ratelimit:{changes}:overrides", "foreign")),
                () -> server.ask(redis -> redis.hset("ratelimit:{changes}:overrides", "k bob", "wrong")))) {
            loss.run();
            await().until(() -> {
                first.ticker().advance(INTERVAL);
                return server.ask(redis -> redis.type("ratelimit:{changes}:overrides"))
                        .equals("hash");
            });
            second.bean(RateLimitPolicies.class).override("k", "bob", KeyOverride.to("5/day"));
            awaitSame(second, first);
        }
        RunningApp third = start("ratelimit.policies.k.limit=1000/day", "ratelimit.policies.k.key=header:X-Id");
        assertThat(third.bean(RateLimitPolicies.class).overrides("k")).hasSize(2);
        new ActuatorClient(third).delete("/k/overrides?key=mallory");
        awaitSame(third, first, second);
        assertThat(first.get("/any", "X-Id: mallory").status()).isEqualTo(200);

        apps.forEach(RunningApp::close);
        List<String> left = server.ask(redis -> redis.keys("*{changes}*"));
        assertThat(left).isEmpty();
    }

    @Test
    void thousandsOfOverrides_areShared() {
        start("ratelimit.policies.k.limit=1000/day", "ratelimit.policies.k.key=header:X-Id");
        RunningApp second = start("ratelimit.policies.k.limit=1000/day", "ratelimit.policies.k.key=header:X-Id");
        String blocked = ChangedValue.text(
                Map.of("override", new ChangedValue("blocked", 1, ChangedValue.NEVER, "admin", "flood", "").json()));
        Map<String, String> many = new HashMap<>();
        for (int i = 0; i < 10_000; i++) {
            many.put(ChangeStore.Name.ofKey("k", "user " + i).text(), blocked);
        }
        long unused = server.ask(redis -> redis.hset("ratelimit:{changes}:overrides", many));

        await().until(() -> {
            second.ticker().advance(INTERVAL);
            return second.get("/any", "X-Id: user 77").status() == 429;
        });

        await().until(() -> second.bean(KeyOverrides.class).count("k") == 10_000);
    }

    @Test
    void changes_atTheSameTime_endTheSameEverywhere() throws Exception {
        RunningApp first = start();
        RunningApp second = start();
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (RunningApp app : List.of(first, second)) {
            int number = threads.size() + 1;
            Thread thread = new Thread(() -> {
                RateLimitPolicies policies = app.bean(RateLimitPolicies.class);
                for (int i = 1; i <= 40; i++) {
                    change(
                            policies,
                            "p",
                            number == 1
                                    ? RateLimitChange.toLimit(i + "00/day")
                                    : new RateLimitChange(null, i + 0L, null));
                    change(policies, "q", RateLimitChange.toLimit(number + "" + i + "/day"));
                }
            });
            thread.setUncaughtExceptionHandler((failed, e) -> failures.add(e));
            threads.add(thread);
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();

        RunningApp last = Stream.of(first, second)
                .max(Comparator.comparing(app ->
                        app.bean(RateLimitPolicies.class).history(1).get(0).time()))
                .orElseThrow();
        awaitSame(last, first, second);

        assertThat(limit(first)).isEqualTo(limit(second)).isEqualTo(TokenBucket.of(Rate.parse("4000/day"), 40));
        assertThat(first.bean(RateLimitPolicies.class).policy("q"))
                .isEqualTo(second.bean(RateLimitPolicies.class).policy("q"));
    }

    /** Tries again as the message says, if others were faster several times. */
    private static void change(RateLimitPolicies policies, String name, RateLimitChange change) {
        while (true) {
            try {
                policies.change(name, change);
                return;
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining("try again");
            }
        }
    }

    @Test
    void change_rightAfterRedisLostItsData_isInForce_andSoAreThoseBefore() {
        RunningApp first = start();
        RunningApp second = start();
        RateLimitPolicies policies = first.bean(RateLimitPolicies.class);
        for (int i = 1; i <= 5; i++) {
            policies.change("p", RateLimitChange.toLimit(i + "0/day"));
            awaitSame(first, second);
            server.ask(redis -> redis.flushall());

            policies.change("q", RateLimitChange.toLimit(i + "1/day"));

            assertThat(limit(first)).isEqualTo(bucket(i + "0/day"));
            awaitSame(first, second);
            for (RunningApp app : List.of(first, second)) {
                assertThat(limit(app)).isEqualTo(bucket(i + "0/day"));
                assertThat(app.bean(RateLimitPolicies.class).policy("q").limits())
                        .containsExactly(bucket(i + "1/day"));
            }
        }
    }

    @Test
    void change_thatOnlyItsInstanceKnows_isNotUndoneByAnothersAfterALoss() {
        RunningApp first = start();
        RunningApp second = start();
        first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("100/day"));
        server.ask(redis -> redis.flushall());

        second.bean(RateLimitPolicies.class).change("p", RateLimitChange.toMode(Mode.SHADOW));

        assertThat(limit(first)).isEqualTo(bucket("100/day"));
        first.ticker().advance(INTERVAL);
        await().until(() -> {
            first.ticker().advance(INTERVAL);
            return first.bean(RateLimitPolicies.class).mode("p") == Mode.SHADOW;
        });
        awaitSame(first, second);
        assertThat(limit(first)).isEqualTo(limit(second)).isEqualTo(bucket("100/day"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"string", "list"})
    void foreignValueAtTheKey_isReplaced_withAWarning(String type, CapturedOutput output) {
        RunningApp first = start();
        first.bean(RateLimitPolicies.class).change("q", RateLimitChange.toLimit("7/day"));
        server.ask(redis -> {
            redis.del("ratelimit:{changes}");
            return type.equals("list")
                    ? redis.rpush("ratelimit:{changes}", "not ours")
                    : redis.set("ratelimit:{changes}", "not ours");
        });

        first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("5/day"));

        assertThat(limit(first)).isEqualTo(bucket("5/day"));
        assertThat(output).contains("The key ratelimit:{changes} in Redis had a value that is none of changes");
        RunningApp second = start();
        assertThat(limit(second)).isEqualTo(bucket("5/day"));
        await().until(() -> {
            first.ticker().advance(INTERVAL);
            second.ticker().advance(INTERVAL);
            return second.bean(RateLimitPolicies.class).policy("q").limits().equals(List.of(bucket("7/day")));
        });
    }

    @Test
    void deploymentOfAnotherLimit_tellsThatTheChangeStillApplies(CapturedOutput output) {
        RunningApp first = start();
        first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("50/day"));

        RunningApp second = start("ratelimit.policies.p.limit=2000/day");

        assertThat(limit(second)).isEqualTo(bucket("50/day"));
        assertThat(output)
                .contains("Rate limit 'p' was changed by another instance: it is 50/day (token-bucket), mode enforce,"
                        + " and its configuration here, 2000/day (token-bucket), mode enforce, does not apply until it"
                        + " is restored");
    }

    @Test
    void policyNamesAndLimits_ofAnyText_arriveUnchanged() {
        String name = "a b:c.d%e+f&g~h";
        RunningApp first = start("ratelimit.policies[" + name + "].limit=1/day");
        RunningApp second = start("ratelimit.policies[" + name + "].limit=1/day");

        first.bean(RateLimitPolicies.class).change(name, RateLimitChange.toLimit(" 5 per minute;  50/day"));
        awaitSame(first, second);

        assertThat(second.bean(RateLimitPolicies.class).policy(name).limits()).hasSize(2);
    }

    @Test
    void cluster_sharesChangesToo() {
        try (RedisCluster cluster = RedisCluster.start()) {
            String nodes = "spring.data.redis.cluster.nodes=127.0.0.1:"
                    + cluster.nodes().get(0).port();
            RunningApp first = startOn(nodes);
            RunningApp second = startOn(nodes);
            first.bean(RateLimitPolicies.class).change("p", RateLimitChange.toLimit("100/day"));

            awaitSame(first, second);

            assertThat(limit(second)).isEqualTo(bucket("100/day"));
            apps.forEach(RunningApp::close);
            apps.clear();
        }
    }
}
