package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Limit;
import dev.ratelimit.Seeds;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChange.OfPlan;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * A thousand changes and overrides, at random ones of three instances on a real Redis that serve requests meanwhile:
 * nobody ever sees half a change, no override is in force after its end, and in the end all instances have the same.
 * {@code -Dredis.long=true} prints how long that took.
 */
@Tag("servers")
@Tag("nightly")
class LiveChangesLoadTest {

    private static final int INSTANCES = 3;
    private static final int OPERATORS = 4;
    private static final int EDITS = 1000;
    private static final int KEYS = 60;

    @Started
    private RedisServer server;

    private final List<Instance> instances = new ArrayList<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();

    /** What was accepted last for each key, which one operator alone overrides; the empty text for a removal. */
    private final Map<String, OverriddenKey> expected = new ConcurrentHashMap<>();

    private final AtomicInteger looks = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private volatile boolean over;

    @Configuration(proxyBeanMethods = false)
    static class Plans {

        @Bean
        PlanResolver plans() {
            return request -> request.header("X-Plan");
        }
    }

    private final class Instance implements AutoCloseable {

        final RunningApp app = RunningApp.startInRealTime(
                Server.TOMCAT,
                List.of(TestApi.class, Plans.class),
                "spring.data.redis.port=" + server.port(),
                "ratelimit.store.type=redis",
                "ratelimit.policies.p.limit=1000/day",
                "ratelimit.policies.p.burst=2000",
                "ratelimit.policies.p.plans.pro=3000/day",
                "ratelimit.policies.p.key=header:X-Id",
                "logging.level.dev.ratelimit=off");
        final RateLimitPolicies policies = app.bean(RateLimitPolicies.class);
        final ChangeStore changes = app.bean(ChangeStore.class);
        final RequestRules rules = app.bean(RequestRules.class);

        /** A change always sets the limit, a burst of twice as much, and a plan with three times as much. */
        void look() {
            RulesInForce now = rules.inForce();
            Rule rule = now.rule("p");
            Limit limit = rule.policy().limits().get(0);
            long permits = limit.rate().permits();
            assertThat(limit.capacity()).isEqualTo(2 * permits);
            assertThat(rule.overrides().plans().get("pro"))
                    .isInstanceOfSatisfying(
                            LimitOverride.Limited.class,
                            plan -> assertThat(
                                            plan.policy().limits().get(0).rate().permits())
                                    .isEqualTo(3 * permits));
            Instant before = Instant.now();
            assertThat(policies.overrides("p"))
                    .allSatisfy(one -> assertThat(one.until()).isAfter(before));
            looks.incrementAndGet();
        }

        /** Whether a key is blocked by an override. */
        boolean blocks(String key) {
            return policies.charge("p", key).permits() > 1;
        }

        @Override
        public void close() {
            app.close();
        }
    }

    /** Somebody who changes the policy, and overrides keys of his own. */
    private final class Operator extends Thread {

        private final int number;
        private final Random random;

        Operator(int number, long seed) {
            this.number = number;
            this.random = new Random(seed);
            setUncaughtExceptionHandler((thread, e) -> failures.add(e));
        }

        @Override
        public void run() {
            for (int i = 0; i < EDITS / OPERATORS && failures.isEmpty(); ) {
                try {
                    edit(instances.get(random.nextInt(INSTANCES)).policies);
                    i++;
                } catch (IllegalStateException e) {
                    // others were first all the time
                    assertThat(e).hasMessageContaining("try again");
                }
            }
        }

        private void edit(RateLimitPolicies at) {
            String key = "k" + (random.nextInt(KEYS / OPERATORS) * OPERATORS + number);
            switch (random.nextInt(6)) {
                case 0, 1, 2 -> {
                    long permits = 500L + random.nextInt(500);
                    at.change(
                            "p",
                            new RateLimitChange(
                                    permits + "/day",
                                    2 * permits,
                                    null,
                                    null,
                                    null,
                                    Map.of("pro", new OfPlan(3 * permits + "/day", null))));
                }
                case 3 -> {
                    if (at.removeOverride("p", key)) {
                        expected.remove(key);
                    }
                }
                default -> {
                    at.override(
                            "p", key, KeyOverride.blocked().lasting(Duration.ofMillis(1000 + random.nextInt(9000))));
                    at.overrides("p").stream()
                            .filter(one -> one.key().equals(key))
                            .forEach(one -> expected.put(key, one));
                }
            }
        }
    }

    @BeforeEach
    void start() {
        for (int i = 0; i < INSTANCES; i++) {
            instances.add(new Instance());
        }
    }

    @AfterEach
    void stop() {
        over = true;
        instances.forEach(Instance::close);
    }

    private Thread meanwhile(Runnable work) {
        Thread thread = new Thread(() -> {
            while (!over && failures.isEmpty()) {
                work.run();
            }
        });
        thread.setUncaughtExceptionHandler((failed, e) -> failures.add(e));
        thread.start();
        return thread;
    }

    @Test
    void changesAndOverrides_underLoad_areNeverHalf_agreeInTheEnd_andEnd() throws InterruptedException {
        long seed = Seeds.next();
        Random random = new Random(seed);
        List<Thread> load = new ArrayList<>();
        for (Instance instance : instances) {
            load.add(meanwhile(instance::look));
            load.add(meanwhile(() -> {
                int status = instance.app
                        .get("/orders/1", "X-Id: k" + requests.getAndIncrement() % KEYS)
                        .status();
                assertThat(status).isIn(200, 429);
            }));
        }
        List<Operator> operators = new ArrayList<>();
        for (int i = 0; i < OPERATORS; i++) {
            operators.add(new Operator(i, random.nextLong()));
        }

        long start = System.nanoTime();
        operators.forEach(Thread::start);
        for (Operator operator : operators) {
            operator.join();
        }
        long edited = System.nanoTime();
        await().until(this::agree);
        long agreed = System.nanoTime();
        checkBlocks("the seed " + seed);
        awaitEnds();

        over = true;
        for (Thread thread : load) {
            thread.join();
        }
        assertThat(failures).as("seed %d", seed).isEmpty();
        if (Boolean.getBoolean("redis.long")) {
            System.out.printf(
                    "seed %d: %d edits in %d ms, %d ms to agree; %d requests, %d looks, no half change%n",
                    seed,
                    EDITS,
                    (edited - start) / 1_000_000,
                    (agreed - edited) / 1_000_000,
                    requests.get(),
                    looks.get());
        }
    }

    private boolean agree() {
        Instance first = instances.get(0);
        return instances.stream().allMatch(other -> other.changes.contents().equals(first.changes.contents()));
    }

    /** Each instance has what was accepted last, as far as that has not ended, and nothing else. */
    private void checkBlocks(String when) {
        for (Instance instance : instances) {
            Instant before = Instant.now();
            Map<String, OverriddenKey> listed =
                    instance.policies.overrides("p").stream().collect(Collectors.toMap(OverriddenKey::key, one -> one));
            Instant after = Instant.now();
            assertThat(expected).as(when).containsAllEntriesOf(listed);
            expected.forEach((key, one) -> {
                if (one.until() != null && one.until().isAfter(after)) {
                    assertThat(listed).as(when).containsEntry(key, one);
                }
            });
            assertThat(listed.values())
                    .allSatisfy(one -> assertThat(one.until()).isAfter(before));
        }
    }

    /** Each override ends on each instance by its clock, without anything to be told. */
    private void awaitEnds() {
        Instant last = expected.values().stream()
                .map(OverriddenKey::until)
                .max(Instant::compareTo)
                .orElseThrow();
        await().atMost(Duration.ofSeconds(30)).until(() -> Instant.now().isAfter(last));
        for (Instance instance : instances) {
            assertThat(instance.policies.overrides("p")).isEmpty();
            for (int i = 0; i < KEYS; i++) {
                assertThat(instance.blocks("k" + i)).isFalse();
            }
        }
    }
}
