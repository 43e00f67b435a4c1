package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.rules.operation.AcceptedChange;
import dev.ratelimit.spring.rules.operation.LiveChanges.Edit;
import dev.ratelimit.spring.rules.operation.PolicyReport;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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

        final RateLimitPolicies policies;
        final PolicyReport report;
        final RedisChanges shared;
        final List<Set<String>> names = new ArrayList<>();

        Instance(String... properties) {
            Map<String, String> all = new HashMap<>(Map.of("ratelimit.policies.p.limit", "10/hour"));
            for (int i = 0; i < properties.length; i += 2) {
                all.put("ratelimit.policies." + properties[i], properties[i + 1]);
            }
            SharingInstance instance = new SharingInstance(server, ticker, all);
            policies = instance.policies;
            report = instance.report;
            shared = instance.shared;
            instance.watchers.add(names::add);
        }

        void assertLimits(String limit, String applies) {
            assertThat(report.of(EXTRA, false)).containsEntry("limit", limit).containsEntry("applies", applies);
            assertThat(policies.mode(EXTRA)).isEqualTo(Mode.ENFORCE);
        }
    }

    @Test
    void policy_isInForceOnAllInstances_andOnThoseThatStartLater_untilItsEnd(CapturedOutput output) {
        Instance first = new Instance();
        Instance second = new Instance();

        first.policies.change(EXTRA, FLOOD);
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
            assertThat(one.policies.names()).containsExactly("p");
            assertThat(one.names.get(one.names.size() - 1)).containsExactly("p");
            one.shared.read();
            assertThat(one.policies.history(EXTRA, 10))
                    .extracting(HistoryEntry::action)
                    .containsExactly(HistoryEntry.Action.EXPIRY, HistoryEntry.Action.CHANGE);
        }
    }

    @Test
    void policy_thatAnotherInstanceRemoves_isGone_alsoAfterRedisHasLostItsData() {
        Instance first = new Instance();
        Instance second = new Instance();
        first.policies.change(EXTRA, FLOOD);
        second.shared.read();

        server.redis.flushAll();
        second.policies.restore(EXTRA);
        first.shared.read();
        second.shared.read();

        assertThat(first.policies.names()).containsExactly("p");
        assertThat(second.policies.names()).containsExactly("p");
        assertThat(new Instance().policies.names()).containsExactly("p");
    }

    @Test
    void policy_survivesARestartOfEachInstance_andTheLossOfAllData() {
        Instance first = new Instance();
        first.policies.change(EXTRA, FLOOD);
        Instance second = new Instance();
        first.shared.leave();

        server.redis.flushAll();
        second.shared.read();

        new Instance().assertLimits("20/minute", "on /login");
    }

    @Test
    void policy_thatIsDeployed_appliesWhereItIsConfigured_withoutTheChange() {
        Instance first = new Instance();
        first.policies.change(EXTRA, FLOOD);

        Instance deployed = new Instance(
                EXTRA + ".limit", "30/minute", EXTRA + ".key", "ip", EXTRA + ".match.paths", "/login, /register");

        deployed.assertLimits("20/minute", "on /login");
        deployed.policies.restore(EXTRA);
        deployed.assertLimits("30/minute", "on /login, /register");
        first.shared.read();
        assertThat(first.policies.names()).containsExactly("p");
    }

    @Test
    void instance_thatCannotHaveThePaths_isWithoutThePolicy(CapturedOutput output) {
        Instance first = new Instance("ready.limit", "5/minute", "ready.mode", "off");
        Instance other = new Instance("ready.limit", "5/minute", "ready.mode", "off", "ready.match.paths", "/api/**");

        first.policies.change("ready", new RateLimitChange(null, null, null).onPaths("/login"));
        other.shared.read();

        assertThat(first.policies.mode("ready")).isEqualTo(Mode.ENFORCE);
        assertThat(other.policies.mode("ready")).isEqualTo(Mode.OFF);
        assertThat(output).contains("Not all of it is in force here");
    }

    /** As a filter or a registry of meters of the application. */
    @Test
    void watcherOfWhatOthersHaveChanged_thatTakesItsTime_holdsUpNoChange() {
        Map<String, String> limit = Map.of("ratelimit.policies.p.limit", "10/hour", "ratelimit.policies.p.key", "ip");
        SharingInstance first = new SharingInstance(server, ticker, limit);
        SharingInstance second = new SharingInstance(server, ticker, limit);
        List<String> meanwhile = new ArrayList<>();
        AtomicBoolean busy = new AtomicBoolean();
        second.watchers.add(names -> {
            // the change that it waits for is another one
            if (busy.compareAndSet(false, true)) {
                CompletableFuture<AcceptedChange> change = CompletableFuture.supplyAsync(() ->
                        second.liveChanges.change("p", new Edit(RateLimitChange.toMode(Mode.SHADOW), false, null)));
                meanwhile.add(change.orTimeout(5, TimeUnit.SECONDS)
                        .handle((accepted, failure) -> failure == null ? "changed" : failure.getMessage())
                        .join());
                busy.set(false);
            }
        });

        first.policies.change(EXTRA, FLOOD);
        second.shared.read();
        first.policies.override("p", "10.0.0.1", KeyOverride.blocked());
        second.shared.read();
        server.redis.flushAll();
        first.policies.change("p", RateLimitChange.toLimit("5/hour"));
        second.shared.leave();

        assertThat(meanwhile).hasSize(3).startsWith("changed", "changed");
        assertThat(meanwhile.get(2)).endsWith("the application is stopping");
    }
}
