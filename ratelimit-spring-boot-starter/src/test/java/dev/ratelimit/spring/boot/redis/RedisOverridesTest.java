package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Seeds;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangedValue;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Overrides of keys that instances share, in virtual time. */
@ExtendWith(OutputCaptureExtension.class)
class RedisOverridesTest {

    private static final int HISTORIES = 4;
    private static final int ACCEPTED = 100;

    private static final Map<String, String> CONFIGURATION =
            Map.of("ratelimit.policies.p.limit", "10/hour", "ratelimit.policies.p.key", "user");

    private static final ChangeStore.Contents NOTHING = new ChangeStore.Contents(Map.of(), List.of());

    /** The clock of the server begins at the same moment. */
    private final FakeTicker ticker = new FakeTicker(Instant.ofEpochSecond(1_764_000_000));

    private final class Instance {

        final RateLimitPolicies policies;
        final ChangeStore changes;
        final RedisChanges shared;

        Instance(ScriptedServer server) {
            this(server, ticker);
        }

        Instance(ScriptedServer server, FakeTicker own) {
            SharingInstance instance = new SharingInstance(server, own, CONFIGURATION);
            policies = instance.policies;
            changes = instance.changes;
            shared = instance.shared;
        }

        ChangeStore.Contents known() {
            return changes.contents();
        }

        void set(String key, String limit) {
            policies.override("p", key, KeyOverride.to(limit));
        }

        Map<String, String> inForce() {
            return policies.overrides("p").stream().collect(Collectors.toMap(OverriddenKey::key, OverriddenKey::limit));
        }
    }

    private static void fill(ScriptedServer server, int count) {
        for (int i = 0; i < count; i++) {
            ChangedValue value =
                    new ChangedValue("blocked", i + 1, ChangedValue.NEVER, "ops", "a flood of requests", "");
            server.putField(
                    ScriptedServer.OVERRIDES,
                    ChangeStore.Name.ofKey("p", "user " + i).text(),
                    ChangedValue.text(Map.of("override", value.json())));
        }
    }

    @Test
    void override_isThatOfAllInstances_withinOneRead_andItsRemoval() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);

        first.policies.override(
                "p",
                "alice & bob",
                KeyOverride.blocked().lasting(Duration.ofHours(2)).because("flood % 1"));
        second.shared.read();

        assertThat(second.policies.overrides("p")).isEqualTo(first.policies.overrides("p"));
        assertThat(new Instance(server).inForce()).containsOnly(Map.entry("alice & bob", "blocked"));
        second.policies.removeOverride("p", "alice & bob");
        first.shared.read();
        assertThat(first.inForce()).isEmpty();
    }

    @Test
    void override_byAnInstanceThatDoesNotKnowAll_isAccepted_andThatLearnsTheRest() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);
        first.set("alice", "blocked");

        second.set("bob", "blocked");
        second.shared.read();

        assertThat(second.inForce()).containsOnlyKeys("alice", "bob");
    }

    @Test
    void override_afterTheClockOfRedisWasAhead_endsInTime() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        long inThreeHours = first.changes.nowMicros() + Duration.ofHours(3).toNanos() / 1000;
        server.putField(ScriptedServer.CHANGES + ":version", "version", Long.toString(inThreeHours));
        Instance second = new Instance(server);

        first.policies.override("p", "alice", KeyOverride.blocked().lasting(Duration.ofMinutes(5)));
        first.policies.override("p", "bob", KeyOverride.blocked().lasting(Duration.ofMinutes(5)));
        second.shared.read();

        assertThat(second.known()).isEqualTo(first.known());
        ticker.advance(Duration.ofMinutes(4));
        assertThat(first.inForce()).containsOnlyKeys("alice", "bob");
        ticker.advance(Duration.ofMinutes(2));
        first.shared.read();
        second.shared.read();
        assertThat(first.inForce()).isEmpty();
        assertThat(second.inForce()).isEmpty();
    }

    @Test
    void override_thatEndedOnlyByAClockThatWasSet_isInForceAgain() {
        ScriptedServer server = new ScriptedServer(ticker);
        FakeTicker own = new FakeTicker(Instant.ofEpochSecond(1_764_000_000));
        Instance first = new Instance(server);
        Instance second = new Instance(server, own);
        first.policies.override("p", "alice", KeyOverride.blocked().lasting(Duration.ofHours(2)));
        second.shared.read();

        own.setWallClock(Duration.ofHours(3));
        for (int i = 0; i < 3; i++) {
            own.advance(Duration.ofSeconds(20));
            ticker.advance(Duration.ofSeconds(20));
            first.shared.read();
        }
        assertThat(second.inForce()).isEmpty();
        second.shared.read();

        assertThat(second.inForce()).containsOnlyKeys("alice");
        assertThat(second.known()).isEqualTo(first.known());
    }

    @Test
    @Tag("slow")
    void override_amongThousands_isSentAlone_andReadWithAllOthers() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        fill(server, 3_000);
        first.shared.read();
        Instance second = new Instance(server);
        assertThat(second.known()).isEqualTo(first.known());
        int scripts = server.scripts;
        int bytes = server.bytes;

        first.set("alice", "blocked");
        first.shared.read();

        assertThat(server.scripts - scripts).isEqualTo(2);
        assertThat(server.bytes - bytes).isLessThan(1200);
        second.shared.read();
        assertThat(second.known()).isEqualTo(first.known());
    }

    @Test
    void redis_thatLosesOneOfItsKeys_hasEverythingAgain_withTheNextRead() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        first.set("alice", "blocked");
        first.policies.change("p", RateLimitChange.toLimit("5/hour"));
        for (String key : List.of(ScriptedServer.CHANGES, ScriptedServer.OVERRIDES, ScriptedServer.HISTORY)) {
            server.redis.put(key, new byte[0]);

            first.shared.read();

            assertThat(new Instance(server).known()).isEqualTo(first.known());
        }
    }

    @Test
    void foreignFields_areReplaced(CapturedOutput output) {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);
        first.set("alice", "blocked");
        second.shared.read();
        server.putField(ScriptedServer.OVERRIDES, "p alice", "garbage");
        server.putField(ScriptedServer.OVERRIDES, "p mallory", "garbage");

        first.shared.read();
        second.shared.read();
        second.set("bob", "blocked");
        first.shared.read();

        assertThat(first.inForce()).containsOnlyKeys("alice", "bob");
        assertThat(new Instance(server).inForce()).containsOnlyKeys("alice", "bob");
        assertThat(output).contains("Redis had a value that is none of changes of rate limits");
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
    void endedOverride_isGone_everywhere_alsoWhereTheClockIsBehind_andDoesNotComeBack() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance second = new Instance(server);
        first.policies.override("p", "a", KeyOverride.blocked().lasting(Duration.ofHours(1)));
        first.set("b", "blocked");
        second.shared.read();
        ScriptServer.Data older = server.redis.snapshot();

        for (int i = 0; i < 181; i++) {
            ticker.advance(Duration.ofSeconds(20));
            first.shared.read();
            second.shared.read();
        }

        assertThat(first.known().of(ChangeStore.Kind.OVERRIDE)).hasSize(1);
        assertThat(second.known()).isEqualTo(first.known());
        assertThat(new Instance(server).inForce()).containsOnlyKeys("b");
        server.redis.restore(older);
        ticker.setWallClock(Duration.ofHours(-2));
        first.shared.read();
        second.shared.read();
        first.shared.read();
        assertThat(first.inForce()).containsOnlyKeys("b");
        assertThat(second.inForce()).containsOnlyKeys("b");
    }

    @Test
    void removedOverride_isNotBroughtBack_byAnOlderCopyOfRedis_norByAnInstanceThatWasAway() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server);
        Instance away = new Instance(server);
        first.set("a", "blocked");
        away.shared.read();
        ScriptServer.Data older = server.redis.snapshot();
        ticker.advance(Duration.ofSeconds(1));
        first.policies.removeOverride("p", "a");

        server.redis.restore(older);
        first.shared.read();
        away.shared.read();

        assertThat(first.inForce()).isEmpty();
        assertThat(away.inForce()).isEmpty();
        assertThat(new Instance(server).inForce()).isEmpty();
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

    private long micros() {
        return Math.floorDiv(ticker.epochNanos(), 1000);
    }

    private final class History {

        private final Random random;
        private final ScriptedServer server = new ScriptedServer(ticker);
        private final List<Instance> instances = new ArrayList<>();
        private final Map<String, Set<String>> expected = new HashMap<>();
        private final List<ChangeStore.Contents> known = new ArrayList<>();
        private ScriptServer.Data replica = server.redis.snapshot();
        private int accepted;

        History(long seed) {
            random = new Random(seed);
            for (int i = 0; i < 3; i++) {
                instances.add(new Instance(server));
                known.add(NOTHING);
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
                    ChangeStore.Contents now = instances.get(i).known();
                    instances.get(i).changes.adopt(known.get(i), micros());
                    assertThat(instances.get(i).known()).isEqualTo(now);
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
                    if (!instance.policies.removeOverride("p", key)) {
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
            List<String> own = instances.get(index).known().history();
            if (instances.get((index + 1) % 3).known().history().containsAll(own)
                    || instances.get((index + 2) % 3).known().history().containsAll(own)) {
                if (random.nextBoolean()) {
                    instances.get(index).shared.leave();
                }
                instances.set(index, new Instance(server));
                known.set(index, NOTHING);
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
