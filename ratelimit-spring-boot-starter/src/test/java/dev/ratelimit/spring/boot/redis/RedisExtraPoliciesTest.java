package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Policies that an operator puts in force on all instances, in virtual time. */
@ExtendWith(OutputCaptureExtension.class)
class RedisExtraPoliciesTest {

    private static final String EXTRA = "extra-by-address";

    private static final RateLimitChange FLOOD = RateLimitChange.toLimit("20/minute")
            .onPaths("/login")
            .lasting(Duration.ofHours(2))
            .because("flood");

    private final FakeTicker ticker = new FakeTicker(Instant.ofEpochSecond(1_764_000_000));
    private final ScriptedServer server = new ScriptedServer(ticker);

    private final class Instance {

        final RateLimitOperations operations;
        final RedisChanges shared;
        final List<Set<String>> names = new ArrayList<>();

        Instance(String... properties) {
            Map<String, String> all = new HashMap<>(Map.of("ratelimit.policies.p.limit", "10/hour"));
            for (int i = 0; i < properties.length; i += 2) {
                all.put("ratelimit.policies." + properties[i], properties[i + 1]);
            }
            SharingInstance instance = SharingInstance.of(server, ticker, all);
            operations = instance.operations();
            shared = instance.shared();
            operations.watchNames(names::add);
            operations.changes().share(shared);
            shared.read();
        }

        void assertLimits(String limit, String applies) {
            Map<String, Object> report = operations.report(EXTRA, null, false);
            assertThat(report).containsEntry("limit", limit).containsEntry("applies", applies);
            assertThat(operations.mode(EXTRA)).isEqualTo(Mode.ENFORCE);
        }
    }

    @Test
    void policy_isInForceOnAllInstances_andOnThoseThatStartLater_untilItsEnd(CapturedOutput output) {
        Instance first = new Instance();
        Instance second = new Instance();

        first.operations.change(EXTRA, FLOOD);
        second.shared.read();

        Instance third = new Instance();
        List.of(first, second, third).forEach(one -> one.assertLimits("20/minute", "on /login"));
        assertThat(second.names.get(second.names.size() - 1)).containsExactly(EXTRA, "p");
        assertThat(output)
                .contains(
                        "Rate limit 'extra-by-address' was changed by another instance: it is 20/minute (token-bucket),"
                                + " mode enforce, on /login, and its configuration here, 60/minute (token-bucket), mode off, does not apply");
        ticker.advance(Duration.ofHours(2));
        for (Instance one : List.of(first, second, third)) {
            assertThat(one.operations.names()).containsExactly("p");
            assertThat(one.names.get(one.names.size() - 1)).containsExactly("p");
            one.shared.read();
            assertThat(one.operations.history(EXTRA, 10))
                    .extracting(HistoryEntry::action)
                    .containsExactly(HistoryEntry.Action.EXPIRY, HistoryEntry.Action.CHANGE);
        }
    }

    @Test
    void policy_thatAnotherInstanceRemoves_isGone_alsoAfterRedisHasLostItsData() {
        Instance first = new Instance();
        Instance second = new Instance();
        first.operations.change(EXTRA, FLOOD);
        second.shared.read();

        server.redis.flushAll();
        second.operations.restore(EXTRA);
        first.shared.read();
        second.shared.read();

        assertThat(first.operations.names()).containsExactly("p");
        assertThat(second.operations.names()).containsExactly("p");
        assertThat(new Instance().operations.names()).containsExactly("p");
    }

    @Test
    void policy_survivesARestartOfEachInstance_andTheLossOfAllData() {
        Instance first = new Instance();
        first.operations.change(EXTRA, FLOOD);
        Instance second = new Instance();
        first.shared.leave();

        server.redis.flushAll();
        second.shared.read();

        new Instance().assertLimits("20/minute", "on /login");
    }

    @Test
    void policy_thatIsDeployed_appliesWhereItIsConfigured_withoutTheChange() {
        Instance first = new Instance();
        first.operations.change(EXTRA, FLOOD);

        Instance deployed = new Instance(
                EXTRA + ".limit", "30/minute", EXTRA + ".key", "ip", EXTRA + ".match.paths", "/login, /register");

        deployed.assertLimits("20/minute", "on /login");
        deployed.operations.restore(EXTRA);
        deployed.assertLimits("30/minute", "on /login, /register");
        first.shared.read();
        assertThat(first.operations.names()).containsExactly("p");
    }

    @Test
    void instance_thatCannotHaveThePaths_isWithoutThePolicy(CapturedOutput output) {
        Instance first = new Instance("ready.limit", "5/minute", "ready.mode", "off");
        Instance other = new Instance("ready.limit", "5/minute", "ready.mode", "off", "ready.match.paths", "/api/**");

        first.operations.change("ready", new RateLimitChange(null, null, null).onPaths("/login"));
        other.shared.read();

        assertThat(first.operations.mode("ready")).isEqualTo(Mode.ENFORCE);
        assertThat(other.operations.mode("ready")).isEqualTo(Mode.OFF);
        assertThat(output).contains("Not all of it is in force here");
    }
}
