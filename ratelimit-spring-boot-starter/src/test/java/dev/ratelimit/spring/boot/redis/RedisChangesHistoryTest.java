package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Seeds;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.operation.PolicyReport;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.test.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Random histories of changes by three instances, whose Redis loses its data, stops, is replaced by an older replica and
 * so on, in virtual time. Whatever was accepted is in force everywhere in the end, and nothing known is ever forgotten.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisChangesHistoryTest {

    private static final int HISTORIES = 10;
    private static final int CHANGES = 100;

    /** Longer than the key lives. */
    private static final long MAX_OUTAGE = Duration.ofSeconds(50).toNanos();

    private static final List<Mode> MODES = List.of(Mode.ENFORCE, Mode.SHADOW, Mode.OFF);
    private static final List<String> POLICIES = List.of("p", "q", "r");
    private static final List<String> PROPERTIES = List.of("limit", "burst", "mode");

    private static final Map<String, String> CONFIGURATION = Map.of(
            "ratelimit.policies.p", "10/hour",
            "ratelimit.policies.q", "10/hour",
            "ratelimit.policies.r", "10/hour");

    private static final ChangeStore.Contents NOTHING = new ChangeStore.Contents(Map.of(), List.of());

    private final FakeTicker ticker = new FakeTicker();

    private final class Instance {

        final RateLimitPolicies policies;
        final ChangeStore changes;
        final LiveChanges liveChanges;
        final PolicyReport report;
        final RedisChanges shared;
        long nextReadNanos;

        Instance(ScriptedServer server, long phaseNanos) {
            SharingInstance instance = new SharingInstance(server, ticker, CONFIGURATION);
            policies = instance.policies;
            changes = instance.changes;
            liveChanges = instance.liveChanges;
            report = instance.report;
            shared = instance.shared;
            nextReadNanos = ticker.nanos() + phaseNanos;
        }

        void readIfDue() {
            if (ticker.nanos() - nextReadNanos >= 0) {
                nextReadNanos += 1_000_000_000;
                shared.read();
            }
        }

        ChangeStore.Contents contents() {
            return changes.contents();
        }

        /** Whether these add nothing to what it knows. */
        boolean knowsAllOf(ChangeStore.Contents others) {
            ChangeStore.Contents now = contents();
            changes.adopt(others, changes.nowMicros());
            return contents().equals(now);
        }

        List<Object> inForce() {
            return POLICIES.stream()
                    .map(policy -> {
                        Map<String, Object> now = report.of(policy, false);
                        // it begins when the instance does
                        now.remove("lastHour");
                        return (Object) now;
                    })
                    .toList();
        }
    }

    /** What a property may be: the value that was accepted last, or one whose answer got lost after that. */
    private static final class Expected {

        private final Set<@Nullable Object> values = new HashSet<>();

        Expected() {
            values.add(null);
        }

        void set(@Nullable Object value, boolean certain) {
            if (certain) {
                values.clear();
            }
            values.add(value);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private final class History {

        private final Random random;
        private final ScriptedServer server = new ScriptedServer(ticker);
        private final List<Instance> instances = new ArrayList<>();
        private final List<ChangeStore.Contents> known = new ArrayList<>(List.of(NOTHING, NOTHING, NOTHING));
        private final Map<String, Expected> expected = new TreeMap<>();
        private ScriptServer.Data replica = server.redis.snapshot();
        private long upAtNanos;
        private int accepted;

        History(long seed) {
            random = new Random(seed);
            for (int i = 0; i < 3; i++) {
                instances.add(new Instance(server, random.nextInt(1_000_000_000)));
            }
            POLICIES.forEach(
                    policy -> PROPERTIES.forEach(property -> expected.put(policy + " " + property, new Expected())));
        }

        void run() {
            while (accepted < CHANGES) {
                pass(Duration.ofMillis(random.nextInt(400)));
                switch (random.nextInt(24)) {
                    case 0 -> server.redis.flushAll();
                    case 1 -> {
                        server.down = true;
                        upAtNanos =
                                ticker.nanos() + random.nextLong(random.nextInt(4) == 0 ? MAX_OUTAGE : MAX_OUTAGE / 10);
                    }
                    case 2 -> server.redis.restore(replica);
                    case 3 -> replica = server.redis.snapshot();
                    case 4 ->
                        server.redis.put(
                                ScriptedServer.CHANGES,
                                random.nextBoolean() ? bytes("limit p 99 1%2Fhour or so") : List.of());
                    case 5 -> server.losesReply = true;
                    case 7 -> changeAroundALoss();
                    case 6 -> replace(random.nextInt(3));
                    default -> change(instances.get(random.nextInt(3)));
                }
                checkNothingIsForgotten();
            }
            server.down = false;
            for (int i = 0; i < 20; i++) {
                pass(Duration.ofMillis(100));
            }
            checkEnd();
        }

        private void pass(Duration time) {
            for (long end = ticker.nanos() + time.toNanos(); ticker.nanos() - end < 0; ) {
                ticker.advance(Duration.ofMillis(20));
                if (server.down && ticker.nanos() - upAtNanos >= 0) {
                    server.down = false;
                    if (random.nextBoolean()) {
                        server.redis.flushAll();
                    }
                }
                instances.forEach(Instance::readIfDue);
            }
        }

        /** An instance ends, with or without a word, and another one starts; not while only that one knows something. */
        private void replace(int index) {
            ChangeStore.Contents own = instances.get(index).contents();
            boolean known = instances.get((index + 1) % 3).contents().history().containsAll(own.history())
                    || instances.get((index + 2) % 3).contents().history().containsAll(own.history());
            if (known) {
                if (random.nextBoolean()) {
                    instances.get(index).shared.leave();
                }
                instances.set(index, new Instance(server, random.nextInt(1_000_000_000)));
                this.known.set(index, NOTHING);
            }
        }

        /** Two changes that cannot know of each other. */
        private void changeAroundALoss() {
            int first = random.nextInt(3);
            String policy = POLICIES.get(random.nextInt(3));
            change(instances.get(first), policy);
            change(instances.get(first), policy);
            server.redis.flushAll();
            ticker.advance(Duration.ofMillis(1));
            change(instances.get((first + 1) % 3), policy);
        }

        private void change(Instance instance) {
            change(instance, POLICIES.get(random.nextInt(3)));
        }

        private void change(Instance instance, String policy) {
            String limit = random.nextBoolean()
                    ? null
                    : 1 + random.nextInt(90) + (random.nextInt(4) == 0 ? "/hour; 99/day" : "/hour");
            Long burst = random.nextBoolean() ? null : Long.valueOf(random.nextInt(50));
            Mode mode = random.nextBoolean() ? null : MODES.get(random.nextInt(3));
            boolean restore = random.nextInt(6) == 0;
            boolean wasDown = server.down;
            try {
                instance.liveChanges.change(
                        policy, new LiveChanges.Edit(new RateLimitChange(limit, burst, mode), restore, null));
                accepted++;
                note(policy, restore, true, limit, text(burst), text(mode));
            } catch (RateLimitConfigurationException e) {
                // nothing was asked
            } catch (IllegalStateException e) {
                if (!wasDown) {
                    note(policy, restore, false, limit, text(burst), text(mode));
                }
            }
        }

        private static @Nullable Object text(@Nullable Object value) {
            return value instanceof Mode mode ? PropertyName.of(mode) : value == null ? null : value.toString();
        }

        private void note(String policy, boolean all, boolean certain, @Nullable Object... values) {
            for (int i = 0; i < values.length; i++) {
                if (values[i] != null || all) {
                    Objects.requireNonNull(expected.get(policy + " " + PROPERTIES.get(i)))
                            .set(values[i], certain);
                }
            }
        }

        private void checkNothingIsForgotten() {
            for (int i = 0; i < 3; i++) {
                assertThat(instances.get(i).knowsAllOf(known.get(i))).isTrue();
                known.set(i, instances.get(i).contents());
            }
        }

        private void checkEnd() {
            ChangeStore.Contents first = instances.get(0).contents();
            for (Instance instance : instances) {
                assertThat(instance.contents()).isEqualTo(first);
                assertThat(instance.inForce()).isEqualTo(instances.get(0).inForce());
            }
            for (String policy : POLICIES) {
                Map<String, ChangedValue> all =
                        ChangedValue.parse(first.of(ChangeStore.Kind.POLICY).getOrDefault(policy, ""));
                List<@Nullable Object> values = new ArrayList<>();
                for (String property : PROPERTIES) {
                    ChangedValue value = all.get(property);
                    values.add(value == null ? null : value.to());
                }
                for (int i = 0; i < 3; i++) {
                    assertThat(Objects.requireNonNull(expected.get(policy + " " + PROPERTIES.get(i))).values)
                            .as("%s of %s", PROPERTIES.get(i), policy)
                            .contains(values.get(i));
                }
            }
        }
    }

    @Test
    @Tag("slow")
    void changes_whateverHappensToRedis_areInForceEverywhereInTheEnd() {
        for (int i = 0; i < HISTORIES; i++) {
            long seed = Seeds.next();
            try {
                new History(seed).run();
            } catch (AssertionError e) {
                throw new AssertionError("history " + i + " with the seed " + seed + " fails", e);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"garbage", "{}", "{\"limit\":5}", "{\"limit\":{\"to\":\"5/hour\"}}", "\u00e9"})
    void textThatOnlyLooksLikeAChange_isReplaced_withOneWarning(String value, CapturedOutput output) {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server, 0);
        Instance second = new Instance(server, 0);
        first.policies.change("p", RateLimitChange.toLimit("5/hour"));
        server.putField(ScriptedServer.CHANGES, "p", value);
        server.putField(ScriptedServer.CHANGES, "other", value);

        first.shared.read();
        second.shared.read();
        second.policies.change("q", RateLimitChange.toLimit("7/hour"));
        first.shared.read();

        assertThat(first.policies.policy("p")).isEqualTo(second.policies.policy("p"));
        assertThat(first.contents()).isEqualTo(second.contents());
        assertThat(output.getAll().lines().filter(line -> line.contains("Redis had a value that is none")))
                .hasSize(1);
        assertThat(output).doesNotContain("were not applied", "are not shared");
    }

    @Test
    void change_ofAVersionThatAnotherInstanceHasChanged_isRefused() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server, 0);
        Instance second = new Instance(server, 0);
        String seen = String.valueOf(second.report.of("p", false).get("version"));
        first.policies.change("p", RateLimitChange.toLimit("5/hour"));

        assertThatThrownBy(() -> second.liveChanges.change(
                        "p", new LiveChanges.Edit(RateLimitChange.toMode(Mode.OFF), false, seen)))
                .isInstanceOf(StaleVersionException.class);

        assertThat(second.policies.mode("p")).isEqualTo(Mode.ENFORCE);
        assertThat(second.policies.policy("p")).isEqualTo(first.policies.policy("p"));
    }

    @Test
    void lastInstance_takesTheChangesAway_unlessRedisHasForgottenWhoElseRuns() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server, 0);
        Instance second = new Instance(server, 0);
        server.redis.flushAll();
        first.policies.change("p", RateLimitChange.toLimit("5/hour"));
        server.redis.flushAll();

        first.shared.leave();
        second.shared.read();
        assertThat(second.contents()).isEqualTo(first.contents());

        second.shared.leave();
        assertThat(server.redis.keys()).isEmpty();
    }

    @Test
    void instance_thatStartsRightAfterALoss_hasTheChangesOnceAnotherHasRead() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance first = new Instance(server, 0);
        first.policies.change("p", RateLimitChange.toLimit("5/hour"));
        server.redis.flushAll();

        Instance second = new Instance(server, 0);
        assertThat(second.contents().history()).isEmpty();

        first.shared.read();
        second.shared.read();
        assertThat(second.contents()).isEqualTo(first.contents());
        assertThat(new Instance(server, 0).contents()).isEqualTo(first.contents());
    }

    @Test
    void instanceThatWasKilled_countsAsRunningForHalfAMinute() {
        ScriptedServer server = new ScriptedServer(ticker);
        Instance killed = new Instance(server, 0);
        killed.policies.change("p", RateLimitChange.toLimit("5/hour"));

        new Instance(server, 0).shared.leave();
        assertThat(server.redis.keys()).isNotEmpty();

        ticker.advance(Duration.ofSeconds(20));
        Instance last = new Instance(server, 0);
        ticker.advance(Duration.ofSeconds(11));
        last.shared.leave();
        assertThat(server.redis.keys()).isEmpty();
    }
}
