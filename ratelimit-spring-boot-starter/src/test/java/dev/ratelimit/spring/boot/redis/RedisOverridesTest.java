package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Seeds;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import dev.ratelimit.spring.rules.override.Overrides;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Overrides of keys that instances share, in virtual time. */
@ExtendWith(OutputCaptureExtension.class)
class RedisOverridesTest {

    private static final int HISTORIES = 4;
    private static final int ACCEPTED = 100;

    private static final Map<String, String> CONFIGURATION =
            Map.of("ratelimit.policies.p.limit", "10/hour", "ratelimit.policies.p.key", "user");

    /** The clock of the server begins at the same moment. */
    private final FakeTicker ticker = new FakeTicker(Instant.ofEpochSecond(1_764_000_000));

    private final class Instance {

        final RateLimitOperations operations;
        final RedisChanges shared;

        Instance(ScriptedServer server) {
            SharingInstance instance = SharingInstance.of(server, ticker, CONFIGURATION);
            operations = instance.operations();
            shared = instance.shared();
            operations.shareOverrides(shared);
            shared.read();
        }

        Overrides known() {
            return operations.overridesKnown();
        }

        void set(String key, String limit) {
            operations.override("p", key, KeyOverride.to(limit));
        }

        Map<String, String> inForce() {
            return operations.overrides("p").stream()
                    .collect(Collectors.toMap(OverriddenKey::key, OverriddenKey::limit));
        }
    }

    private Overrides many(int count) {
        Map<Overrides.Key, Overrides.Value> values = new HashMap<>();
        Instance any = new Instance(new ScriptedServer(ticker));
        any.operations.override("p", "x", KeyOverride.blocked().because("a flood of requests"));
        Overrides.Value value = any.known().values().values().iterator().next();
        for (int i = 0; i < count; i++) {
            values.put(
                    new Overrides.Key("p", "user " + i),
                    new Overrides.Value(value.at() + i - count, value.until(), value.text()));
        }
        return new Overrides(values, 0);
    }

    @Test
    void override_isThatOfAllInstances_withinOneRead_andItsRemoval() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);

        first.operations.override(
                "p",
                "alice & bob",
                KeyOverride.blocked().lasting(Duration.ofHours(2)).because("flood % 1"));
        second.shared.read();

        assertThat(second.operations.overrides("p")).isEqualTo(first.operations.overrides("p"));
        assertThat(new Instance(server).inForce()).containsOnly(Map.entry("alice & bob", "blocked"));
        second.operations.removeOverride("p", "alice & bob");
        first.shared.read();
        assertThat(first.inForce()).isEmpty();
    }

    @Test
    void override_byAnInstanceThatDoesNotKnowAll_isAccepted_onceItDoes() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);
        first.set("alice", "blocked");

        second.set("bob", "blocked");

        assertThat(second.inForce()).containsOnlyKeys("alice", "bob");
    }

    @Test
    @Tag("slow")
    void read_thatFindsNothingNew_costsAFewBytes_howeverManyThereAre() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        first.operations.adopt(many(10_000));
        first.shared.read();
        Instance second = new Instance(server);
        assertThat(second.known()).isEqualTo(first.known());
        int scripts = server.scripts;
        int bytes = server.bytes;

        first.shared.read();

        assertThat(server.scripts - scripts).isOne();
        assertThat(server.bytes - bytes).isLessThan(400);
    }

    @Test
    @Tag("slow")
    void override_amongThousands_isSentAlone_andReadWithFewOthers() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        first.operations.adopt(many(9_000));
        first.shared.read();
        Instance second = new Instance(server);
        int bytes = server.bytes;

        first.set("alice", "blocked");

        assertThat(server.bytes - bytes).isLessThan(300);
        second.shared.read();
        assertThat(second.known()).isEqualTo(first.known());
        assertThat(server.bytes - bytes).isLessThan(30_000);
    }

    @Test
    @Tag("slow")
    void redis_thatLosesItsData_hasEverythingAgain_withTheNextRead() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        first.operations.adopt(many(10_000));
        first.shared.read();
        server.redis.flushAll();

        first.shared.read();

        assertThat(new Instance(server).known()).isEqualTo(first.known());
        // a script that joins more would hold the server up
        assertThat(server.largest).isLessThan(80_000);
    }

    @ParameterizedTest
    @CsvSource({
        "digests, garbage",
        "digest, garbage",
        "all, p %zz 1 9007199254740990 blocked&&x",
        "all, p %61 1 9007199254740990 blocked&&x",
        "all, p user 1 9007199254740990 %zz&&x",
        "all, p user 1 9999999999999999 blocked&&x",
        "all, garbage"
    })
    void foreignFields_areReplaced(String field, String value, CapturedOutput output) {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);
        first.set("alice", "blocked");
        second.shared.read();
        if (field.equals("all")) {
            IntStream.range(0, 256)
                    .forEach(bucket ->
                            server.putField(ScriptedServer.OVERRIDES, Integer.toString(bucket), value + "\n"));
            server.putField(ScriptedServer.OVERRIDES, "digests", "9".repeat(256 * 15));
            server.putField(ScriptedServer.OVERRIDES, "digest", "garbage");
        } else {
            server.putField(ScriptedServer.OVERRIDES, field, value);
        }

        first.shared.read();
        second.shared.read();
        second.set("bob", "blocked");
        first.shared.read();

        assertThat(first.inForce()).containsOnlyKeys("alice", "bob");
        assertThat(new Instance(server).inForce()).containsOnlyKeys("alice", "bob");
        second.shared.read();
        first.shared.read();
        int before = server.scripts;
        first.shared.read();
        second.shared.read();
        assertThat(server.scripts - before).isEqualTo(2);
        assertThat(output).doesNotContain("were not applied", "are not shared");
    }

    @Test
    void override_whileRedisDoesNotAnswer_isRefused() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        server.down = true;

        assertThatThrownBy(() -> first.set("alice", "blocked"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Redis, which does not answer");

        assertThat(first.inForce()).isEmpty();
        server.down = false;
        first.set("alice", "blocked");
        assertThat(first.inForce()).containsOnlyKeys("alice");
    }

    @Test
    void endedOverrides_areForgotten_aDayLater_byAll() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);
        first.operations.override("p", "a", KeyOverride.blocked().lasting(Duration.ofHours(1)));
        first.set("b", "blocked");
        first.set("c", "blocked");
        first.operations.removeOverride("p", "b");
        second.shared.read();

        for (int hour = 0; hour < 27; hour++) {
            assertThat(second.known().values()).hasSizeBetween(hour < 24 ? 3 : 1, 3);
            // in the end, Redis does not forget by itself meanwhile
            int steps = hour < 23 ? 1 : 180;
            for (int i = 0; i < steps; i++) {
                ticker.advance(Duration.ofHours(1).dividedBy(steps));
                first.shared.read();
                second.shared.read();
            }
        }

        assertThat(first.known().values()).hasSize(1);
        assertThat(second.known()).isEqualTo(first.known());
        int scripts = server.scripts;
        first.shared.read();
        assertThat(server.scripts - scripts).isOne();
        assertThat(new Instance(server).inForce()).containsOnlyKeys("c");
    }

    @Test
    void lastInstance_takesTheOverridesAway() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);
        first.set("alice", "blocked");

        first.shared.leave();
        assertThat(new Instance(server).inForce()).containsOnlyKeys("alice");
        ticker.advance(Duration.ofSeconds(29));
        second.shared.read();
        ticker.advance(Duration.ofSeconds(2));
        second.shared.leave();

        assertThat(server.redis.keys()).isEmpty();
        assertThat(new Instance(server).inForce()).isEmpty();
    }

    private final class History {

        private final Random random;
        private final ScriptedServer server = new ScriptedServer(ticker);
        private final List<Instance> instances = new ArrayList<>();
        private final Map<String, Set<String>> expected = new HashMap<>();
        private final List<Overrides> known = new ArrayList<>();
        private ScriptServer.Data replica = server.redis.snapshot();
        private int accepted;

        History(long seed) {
            random = new Random(seed);
            for (int i = 0; i < 3; i++) {
                instances.add(new Instance(server));
                known.add(Overrides.NONE);
            }
            for (int i = 0; i < 40; i++) {
                expected.put("k" + i, new HashSet<>(Set.of("")));
            }
        }

        void run() {
            while (accepted < ACCEPTED) {
                ticker.advance(Duration.ofMillis(random.nextInt(900)));
                switch (random.nextInt(24)) {
                    case 0 -> server.redis.flushAll();
                    case 1 -> server.down = true;
                    case 2 -> server.redis.restore(replica);
                    case 3 -> replica = server.redis.snapshot();
                    case 4 -> server.losesReply = true;
                    case 5 -> replace(random.nextInt(3));
                    case 6, 7, 8, 9, 10 ->
                        instances.get(random.nextInt(3)).shared.read();
                    case 11, 12 -> server.down = false;
                    default -> set(instances.get(random.nextInt(3)), "k" + random.nextInt(40));
                }
                for (int i = 0; i < 3; i++) {
                    Overrides now = instances.get(i).known();
                    assertThat(now.and(known.get(i))).isEqualTo(now);
                    known.set(i, now);
                }
            }
            server.down = false;
            for (int i = 0; i < 3; i++) {
                instances.forEach(instance -> instance.shared.read());
            }
            checkEnd();
        }

        private void set(Instance instance, String key) {
            String limit = random.nextInt(4) == 0 ? "" : 1 + random.nextInt(99) + "/hour";
            boolean wasDown = server.down;
            try {
                if (limit.isEmpty()) {
                    if (!instance.operations.removeOverride("p", key)) {
                        return;
                    }
                } else {
                    instance.set(key, limit);
                }
                accepted++;
                expected.put(key, new HashSet<>(Set.of(limit)));
            } catch (IllegalStateException e) {
                if (!wasDown) {
                    expected.computeIfAbsent(key, missing -> new HashSet<>()).add(limit);
                }
            }
        }

        private void replace(int index) {
            Overrides others = instances
                    .get((index + 1) % 3)
                    .known()
                    .and(instances.get((index + 2) % 3).known());
            if (others.and(instances.get(index).known()).equals(others)) {
                if (random.nextBoolean()) {
                    instances.get(index).shared.leave();
                }
                instances.set(index, new Instance(server));
                known.set(index, Overrides.NONE);
            }
        }

        private void checkEnd() {
            Map<String, String> first = instances.get(0).inForce();
            instances.forEach(instance ->
                    assertThat(instance.known()).isEqualTo(instances.get(0).known()));
            expected.forEach((key, values) -> assertThat(values).as(key).contains(first.getOrDefault(key, "")));
        }
    }

    @Test
    @Tag("slow")
    void overrides_whateverHappensToRedis_areInForceEverywhereInTheEnd() {
        for (int i = 0; i < HISTORIES; i++) {
            long seed = Seeds.next();
            try {
                new History(seed).run();
            } catch (AssertionError e) {
                throw new AssertionError("history " + i + " with the seed " + seed + " fails", e);
            }
        }
    }
}
