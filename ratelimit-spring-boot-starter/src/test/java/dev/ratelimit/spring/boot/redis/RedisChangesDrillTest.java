package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Seeds;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Three instances on a real Redis are changed in real time, at random ones of them, while Redis loses its data, ends,
 * stalls and is replaced. Whenever that is over, all agree on what was accepted last, and no instance ever returns to
 * an earlier limit. {@code -Dredis.long=true} makes a thousand changes, and prints how long it took to agree.
 */
@Tag("servers")
@Tag("nightly")
class RedisChangesDrillTest {

    private static final boolean LONG = Boolean.getBoolean("redis.long");
    private static final int PHASES = LONG ? 20 : 5;
    private static final int CHANGES_PER_OPERATOR = LONG ? 17 : 8;
    private static final int INSTANCES = 3;

    private static final String KEY = "ratelimit:{changes}";

    /** Each is changed by one operator, so that what was accepted last is known. */
    private static final List<String> POLICIES = List.of("p", "q", "lowered");

    private static final List<String> PROPERTIES = List.of("limit", "burst", "mode");
    private static final List<Mode> MODES = List.of(Mode.values());
    private static final String[] DURABLE = {"--appendonly", "yes"};

    private enum Fault {
        FLUSH,
        KILL,
        REPLACE,
        OLDER_DATA,
        EMPTY_MASTER,
        STALL
    }

    private static final List<Fault> FAULTS = List.of(Fault.values());

    @Started
    private RedisServer empty;

    private final List<Instance> instances = new CopyOnWriteArrayList<>();
    private final Map<String, Set<@Nullable Object>> possible = new HashMap<>();
    private final Map<Fault, Integer> faults = new LinkedHashMap<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private RedisServer server = RedisServer.start(DURABLE);
    private int lowered = 1_000_000;
    private volatile boolean over;

    /** An instance, and what it has known. */
    private final class Instance implements AutoCloseable {

        final RunningApp app = RunningApp.startInRealTime(
                Server.TOMCAT,
                List.of(TestApi.class),
                "spring.data.redis.port=" + server.port(),
                "ratelimit.store.type=redis",
                "ratelimit.policies.p.limit=10/day",
                "ratelimit.policies.q.limit=10/day",
                "ratelimit.policies.lowered.limit=1000000/day",
                "logging.level.dev.ratelimit=off",
                "management.endpoints.web.exposure.include=ratelimits",
                "management.endpoint.ratelimits.access=unrestricted");
        final RateLimitPolicies policies = app.bean(RateLimitPolicies.class);
        final LiveChanges liveChanges = app.bean(LiveChanges.class);
        final ChangeStore changes = app.bean(ChangeStore.class);
        private ChangeStore.Contents known = changes.contents();
        private long limit = Long.MAX_VALUE;

        /** Whatever it has known, adds nothing to what it knows. */
        void checkNothingIsForgotten() {
            changes.exclusively(() -> {
                ChangeStore.Contents now = changes.contents();
                changes.adopt(known, changes.nowMicros());
                assertThat(changes.contents()).isEqualTo(now);
                known = now;
            });
            long limitNow = policies.policy("lowered").limits().get(0).rate().permits();
            assertThat(limitNow).isLessThanOrEqualTo(limit);
            limit = limitNow;
        }

        List<Object> inForce() {
            return POLICIES.stream()
                    .flatMap(name -> Stream.<Object>of(policies.policy(name), policies.mode(name)))
                    .toList();
        }

        @Override
        public void close() {
            app.close();
        }
    }

    /** Somebody who changes one policy, at any instance. */
    private final class Operator extends Thread {

        private final String policy;
        private final Random random;

        Operator(String policy, long seed) {
            this.policy = policy;
            this.random = new Random(seed);
            setUncaughtExceptionHandler((thread, e) -> failures.add(e));
        }

        @Override
        public void run() {
            for (int i = 0; i < CHANGES_PER_OPERATOR && failures.isEmpty(); ) {
                LockSupport.parkNanos(random.nextInt(60_000_000));
                if (change()) {
                    accepted.incrementAndGet();
                    i++;
                }
            }
        }

        private boolean change() {
            Instance instance = instances.get(random.nextInt(INSTANCES));
            boolean restore = false;
            RateLimitChange change;
            if (policy.equals("lowered")) {
                lowered--;
                change = RateLimitChange.toLimit(lowered + "/day");
            } else {
                restore = random.nextInt(6) == 0;
                String rates = 1 + random.nextInt(90) + (random.nextInt(4) == 0 ? "/hour; 99/day" : "/hour");
                change = new RateLimitChange(
                        random.nextBoolean() ? null : rates,
                        random.nextBoolean() ? null : Long.valueOf(random.nextInt(50)),
                        random.nextBoolean() ? null : MODES.get(random.nextInt(3)));
            }
            try {
                instance.liveChanges.change(policy, new LiveChanges.Edit(change, restore, null));
                note(change, restore, true);
                return true;
            } catch (RateLimitConfigurationException e) {
                return false;
            } catch (IllegalStateException e) {
                if (!Objects.toString(e.getMessage()).contains("at this moment; try again")) {
                    unanswered.incrementAndGet();
                    note(change, restore, false);
                }
                return false;
            }
        }

        private void note(RateLimitChange change, boolean restore, boolean certain) {
            List<@Nullable Object> values = values(change);
            for (int i = 0; i < PROPERTIES.size(); i++) {
                Object value = values.get(i);
                if (value != null || restore) {
                    Set<@Nullable Object> all = Objects.requireNonNull(possible.get(policy + " " + PROPERTIES.get(i)));
                    if (certain) {
                        all.clear();
                    }
                    all.add(value);
                }
            }
        }
    }

    private static List<@Nullable Object> values(RateLimitChange change) {
        List<@Nullable Object> values = new ArrayList<>();
        values.add(change.limit());
        values.add(change.burst() == null ? null : String.valueOf(change.burst()));
        values.add(change.mode() == null ? null : PropertyName.of(change.mode()));
        return values;
    }

    /** The values that an instance knows. */
    private static List<@Nullable Object> values(Instance instance, String policy) {
        Map<String, ChangedValue> known = ChangedValue.parse(instance.changes.text(ChangeStore.Name.ofPolicy(policy)));
        List<@Nullable Object> values = new ArrayList<>();
        for (String property : PROPERTIES) {
            ChangedValue value = known.get(property);
            values.add(value == null ? null : value.to());
        }
        return values;
    }

    @BeforeEach
    void start() {
        for (int i = 0; i < INSTANCES; i++) {
            instances.add(new Instance());
        }
        for (String policy : POLICIES) {
            for (String property : PROPERTIES) {
                Set<@Nullable Object> only = new HashSet<>();
                only.add(null);
                possible.put(policy + " " + property, only);
            }
        }
    }

    @AfterEach
    void stop() {
        over = true;
        instances.forEach(Instance::close);
        server.close();
    }

    @Test
    void changes_whateverHappensToRedis_areInForceOnAllInstances() throws InterruptedException {
        long seed = Seeds.next();
        Random random = new Random(seed);
        Thread watch = new Thread(this::watch);
        watch.start();
        long longestNanos = 0;

        for (int phase = 0; phase < PHASES; phase++) {
            phase(random);
            longestNanos = Math.max(longestNanos, nanosToAgree("phase " + phase + " with the seed " + seed));
            if (phase % 5 == 4) {
                restart(random.nextInt(INSTANCES));
            }
        }

        over = true;
        watch.join();
        assertThat(failures).as("seed %d", seed).isEmpty();
        if (LONG) {
            System.out.printf(
                    "seed %d: %d changes accepted, %d unanswered, none lost; faults %s; at most %d ms to agree%n",
                    seed, accepted.get(), unanswered.get(), faults, longestNanos / 1_000_000);
        }
    }

    /** Looks at each instance all the time. */
    private void watch() {
        try {
            while (!over) {
                instances.forEach(Instance::checkNothingIsForgotten);
                LockSupport.parkNanos(1_000_000);
            }
        } catch (AssertionError e) {
            failures.add(e);
        }
    }

    /** Changes, and faults meanwhile. Redis is well in the end. */
    private void phase(Random random) throws InterruptedException {
        List<Operator> operators = POLICIES.stream()
                .map(policy -> new Operator(policy, random.nextLong()))
                .toList();
        Map<String, String> earlier = server.ask(redis -> redis.hgetall(KEY));
        operators.forEach(Thread::start);
        do {
            LockSupport.parkNanos(random.nextInt(300_000_000));
            Fault fault = FAULTS.get(random.nextInt(FAULTS.size()));
            faults.merge(fault, 1, Integer::sum);
            inflict(fault, earlier, random.nextLong(random.nextInt(4) == 0 ? 3_000_000_000L : 300_000_000L));
        } while (operators.stream().anyMatch(Thread::isAlive));
        for (Operator operator : operators) {
            operator.join();
        }
    }

    private void inflict(Fault fault, Map<String, String> earlier, long nanos) {
        switch (fault) {
            case FLUSH -> {
                String unused = server.ask(redis -> redis.flushall());
            }
            case KILL -> {
                server.kill();
                LockSupport.parkNanos(nanos);
                server.restart();
            }
            case REPLACE, OLDER_DATA -> {
                int port = server.port();
                server.close();
                LockSupport.parkNanos(nanos);
                server = RedisServer.startOn(port, DURABLE);
                if (fault == Fault.OLDER_DATA && !earlier.isEmpty()) {
                    long unused = server.ask(redis -> redis.hset(KEY, earlier));
                }
            }
            case EMPTY_MASTER -> {
                String unused = server.ask(redis -> redis.replicaof("127.0.0.1", empty.port()));
                LockSupport.parkNanos(nanos);
                String unusedToo = server.ask(redis -> redis.replicaofNoOne());
            }
            case STALL -> {
                server.pause();
                LockSupport.parkNanos(nanos);
                server.resume();
                String unused = server.ask(redis -> redis.ping());
            }
        }
    }

    private long nanosToAgree(String when) {
        long start = System.nanoTime();
        await(when).pollInterval(Duration.ofMillis(5)).until(this::agree);
        long nanos = System.nanoTime() - start;
        assertThat(failures).as(when).isEmpty();
        Instance first = instances.get(0);
        for (Instance instance : instances) {
            assertThat(instance.inForce()).as(when).isEqualTo(first.inForce());
        }
        for (String policy : POLICIES) {
            List<@Nullable Object> values = values(first, policy);
            for (int i = 0; i < PROPERTIES.size(); i++) {
                Set<@Nullable Object> all = Objects.requireNonNull(possible.get(policy + " " + PROPERTIES.get(i)));
                assertThat(all)
                        .as("%s: %s of %s", when, PROPERTIES.get(i), policy)
                        .contains(values.get(i));
                all.clear();
                all.add(values.get(i));
            }
        }
        return nanos;
    }

    /** Nothing is on its way any more: each instance and Redis know the same. */
    private boolean agree() {
        ChangeStore.Contents inRedis = new ChangeStore.Contents(
                Map.of(
                        ChangeStore.Kind.POLICY,
                        server.ask(redis -> redis.hgetall(KEY)),
                        ChangeStore.Kind.OVERRIDE,
                        Map.of()),
                server.ask(redis -> redis.lrange(KEY + ":history", 0, -1)));
        return instances.stream()
                .allMatch(instance -> instance.changes.contents().equals(inRedis));
    }

    /** A rolling restart: the new instance has the changes from the start. */
    private void restart(int index) {
        ChangeStore.Contents before = instances.get(0).changes.contents();
        Instance old = instances.get(index);
        Instance replacement = new Instance();
        instances.set(index, replacement);
        old.close();

        assertThat(replacement.changes.contents()).isEqualTo(before);
    }
}
