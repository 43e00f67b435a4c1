package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.HistoryEntry.Action;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChangedEvent;
import dev.ratelimit.spring.RateLimitChangedEvent.Cause;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Changes with an end and a reason, and their history. */
@ExtendWith(OutputCaptureExtension.class)
class TimedChangesTest {

    private static final String CONFIGURED = "100/minute (token-bucket), mode enforce";
    private static final String CHANGED = "50/minute (token-bucket), mode enforce";

    private final LiveRules live = new LiveRules("p.limit=100/minute", "p.key=user", "p.match.paths=/x");

    private Instant now() {
        return Instant.EPOCH.plusNanos(live.ticker.epochNanos());
    }

    private String version() {
        return live.rules.inForce().version("p").toString();
    }

    @Test
    void change_forAnHour_endsByItself_onTheClock(CapturedOutput output) {
        List<Object> events = new ArrayList<>();
        List<Map<String, Object>> audited = new ArrayList<>();
        live.publishTo(new QueuedEvents(events::add, Runnable::run));
        live.observers.add((policy, what) -> audited.add(what));
        live.policies.change(
                "p",
                RateLimitChange.toLimit("50/minute")
                        .lasting(Duration.ofHours(1))
                        .because("release"));

        live.ticker.advance(Duration.ofHours(1).minusNanos(1000));
        assertThat(version()).isEqualTo(CHANGED);
        live.ticker.advance(Duration.ofNanos(1000));

        assertThat(version()).isEqualTo(CONFIGURED);
        assertThat(live.liveChanges.isChanged("p")).isFalse();
        assertThat(events)
                .containsExactly(
                        new RateLimitChangedEvent("p", Cause.OPERATOR, null, CONFIGURED, CHANGED),
                        new RateLimitChangedEvent("p", Cause.EXPIRY, null, CHANGED, CONFIGURED));
        assertThat(audited.get(0)).containsEntry("reason", "release").containsKey("until");
        assertThat(audited.get(1)).containsKey("expired");
        assertThat(output).contains("because of 'release'", "since its change has ended");
        assertThat(live.ticker.alarms()).isZero();
    }

    @Test
    void end_concernsOnlyWhatTheChangeNames_andALaterChangeReplacesIt() {
        live.policies.change("p", RateLimitChange.toMode(Mode.SHADOW));
        live.policies.change("p", RateLimitChange.toLimit("50/minute").lasting(Duration.ofHours(1)));
        live.policies.change("p", new RateLimitChange(null, 10L, null).lasting(Duration.ofHours(1)));
        live.policies.change("p", new RateLimitChange(null, 20L, null));

        live.ticker.advance(Duration.ofHours(2));

        assertThat(live.rules.changes()).containsExactly(Map.entry("p", new RateLimitChange(null, 20L, Mode.SHADOW)));
    }

    @Test
    void end_byAClockThatIsSet_isStillTheEnd() {
        live.policies.change("p", RateLimitChange.toLimit("50/minute").until(now().plusSeconds(7200)));

        live.ticker.setWallClock(Duration.ofHours(1));
        live.ticker.advance(Duration.ofMinutes(59));
        assertThat(version()).isEqualTo(CHANGED);
        live.ticker.advance(Duration.ofMinutes(1));

        assertThat(version()).isEqualTo(CONFIGURED);
    }

    @Test
    void close_endsNothingAnyMore() {
        live.policies.change("p", RateLimitChange.toLimit("50/minute").lasting(Duration.ofHours(1)));

        live.close();

        assertThat(live.ticker.alarms()).isZero();
    }

    @Test
    void hostileValues_areRefused_andNothingIsChanged() {
        String many = "1/second;".repeat(30);
        for (RateLimitChange change : List.of(
                RateLimitChange.toLimit("50/minute").because("x".repeat(201)),
                RateLimitChange.toLimit(many),
                RateLimitChange.toLimit("50/minute").lasting(Duration.ZERO),
                RateLimitChange.toLimit("50/minute").lasting(Duration.ofDays(367)),
                RateLimitChange.toLimit("50/minute").until(now()))) {
            assertThatThrownBy(() -> live.policies.change("p", change)).isInstanceOf(IllegalArgumentException.class);
        }

        assertThat(version()).isEqualTo(CONFIGURED);
        assertThat(live.policies.history(10)).isEmpty();
    }

    @Test
    void history_tellsWhoWhenFromWhatToWhatAndWhy_ofPoliciesAndKeys() {
        live.identify(() -> "alice");
        Instant first = now();
        live.policies.change("p", RateLimitChange.toLimit("50/minute").because("release"));
        live.ticker.advance(Duration.ofSeconds(1));
        live.policies.override(
                "p", "bob", KeyOverride.blocked().lasting(Duration.ofMinutes(1)).because("flood"));
        live.ticker.advance(Duration.ofSeconds(1));
        live.policies.override("p", "bob", KeyOverride.to("5/minute").lasting(Duration.ofMinutes(1)));
        live.ticker.advance(Duration.ofMinutes(2));
        live.policies.override("p", "eve", KeyOverride.unlimited());
        live.policies.removeOverride("p", "eve");
        live.ticker.advance(Duration.ofSeconds(1));
        live.identify(() -> null);
        live.policies.restore("p");

        Instant t = first;
        assertThat(live.policies.history(10))
                .containsExactly(
                        entry(
                                t.plusSeconds(123),
                                Action.RESTORE,
                                null,
                                CHANGED,
                                CONFIGURED,
                                null,
                                null,
                                "the application"),
                        entry(
                                t.plusSeconds(122),
                                Action.REMOVE_OVERRIDE,
                                "eve",
                                "unlimited",
                                null,
                                null,
                                null,
                                "alice"),
                        entry(t.plusSeconds(122), Action.OVERRIDE, "eve", null, "unlimited", null, null, "alice"),
                        entry(t.plusSeconds(62), Action.EXPIRY, "bob", "5/minute", null, null, null, null),
                        entry(
                                t.plusSeconds(2),
                                Action.OVERRIDE,
                                "bob",
                                "blocked",
                                "5/minute",
                                t.plusSeconds(62),
                                null,
                                "alice"),
                        entry(
                                t.plusSeconds(1),
                                Action.OVERRIDE,
                                "bob",
                                null,
                                "blocked",
                                t.plusSeconds(61),
                                "flood",
                                "alice"),
                        entry(t, Action.CHANGE, null, CONFIGURED, CHANGED, null, "release", "alice"));
        assertThat(live.policies.history("p", 2))
                .isEqualTo(live.policies.history(2))
                .hasSize(2);
    }

    private static HistoryEntry entry(
            Instant time,
            Action action,
            @Nullable String key,
            @Nullable String from,
            @Nullable String to,
            @Nullable Instant until,
            @Nullable String reason,
            @Nullable String by) {
        return new HistoryEntry(time, action, "p", key, from, to, until, reason, by);
    }

    @Test
    void history_ofNoSuchPolicy_orWithAnotherLimit_isRefused() {
        assertThatThrownBy(() -> live.policies.history("q", 1)).isInstanceOf(UnknownPolicyException.class);
        for (int limit : List.of(0, -1, 1001)) {
            assertThatThrownBy(() -> live.policies.history(limit))
                    .hasMessage("limit must be from 1 to 1000 but was " + limit);
        }
    }

    @Test
    void report_tellsTheDetailsOfEachChange() {
        live.policies.change(
                "p",
                RateLimitChange.toMode(Mode.SHADOW).lasting(Duration.ofHours(1)).because("why"));

        assertThat(live.report("p", null, false))
                .containsEntry(
                        "changes",
                        List.of(Map.of(
                                "property", "mode",
                                "to", "shadow",
                                "by", "the application",
                                "since", now().toString(),
                                "until", now().plusSeconds(3600).toString(),
                                "reason", "why",
                                "configured", "enforce")));
        assertThat(live.report().all(false).get(0)).containsKey("changes");
        live.policies.restore("p");
        assertThat(live.report("p", null, false)).doesNotContainKey("changes");
    }

    @Test
    void request_isChargedToTheConfiguredLimitAgain() {
        live.policies.change("p", RateLimitChange.toMode(Mode.OFF).lasting(Duration.ofSeconds(10)));
        assertThat(live.admitted(200, get("/x"))).isEqualTo(200);

        live.ticker.advance(Duration.ofSeconds(10));

        assertThat(live.admitted(200, get("/x"))).isEqualTo(100);
    }

    @Test
    void returnToTheConfiguration_hasNoEnd() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        RateLimitChange nothing = new RateLimitChange(null, null, null);

        assertThatThrownBy(() -> live.edit("p", nothing.lasting(Duration.ofSeconds(2)), true, null, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a return to the configuration does not end; leave out duration and until");
        assertThatThrownBy(() -> live.preview("p", nothing.until(Instant.MAX), true, null, false))
                .hasMessageStartingWith("a return to the configuration does not end");
        assertThat(live.policies.history(10)).isEmpty();
        live.edit("p", RateLimitChange.toLimit("1/minute").lasting(Duration.ofSeconds(2)), true, null, false);
        assertThat(live.policies.history(10)).hasSize(1);
    }
}
