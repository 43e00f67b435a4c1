package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChangedEvent;
import dev.ratelimit.spring.RateLimitChangedEvent.Cause;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.http.HttpHeaders;

/** Policies that are off until an operator puts them in force on some paths. */
class ExtraPoliciesTest {

    private static final String EXTRA = "extra-by-address";
    private static final String OFF = "60/minute (token-bucket), mode off";
    private static final String ON = "2/minute (token-bucket), mode enforce, on /orders/*";

    private static RateLimitChange on(String... paths) {
        return RateLimitChange.toLimit("2/minute").onPaths(paths);
    }

    @Test
    void rules_areTheSameAsBefore_whenThePolicyIsGone() {
        LiveRules live = new LiveRules("p.limit=100/minute", "p.match.paths=/x");
        RulesInForce before = live.rules.inForce();

        live.policies.change("extra-by-user", on("/orders/*"));
        live.policies.restore("extra-by-user");

        RulesInForce after = live.rules.inForce();
        assertThat(after.byPolicy().keySet())
                .isEqualTo(before.byPolicy().keySet())
                .isEqualTo(Set.of("p"));
        assertThat(after.anywhere().rules()).hasSize(1);
        assertThat(after.changes()).isEmpty();
        assertThat(after.isFreePreflight(get("/x").with(HttpHeaders.ORIGIN, "https://a")))
                .isEqualTo(before.isFreePreflight(get("/x").with(HttpHeaders.ORIGIN, "https://a")));
    }

    @Test
    void events_tellThatThePolicyWasOff_isInForce_andHasEnded() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        List<Object> events = new ArrayList<>();
        live.publishTo(new QueuedEvents(events::add, Runnable::run));

        live.policies.change(EXTRA, on("/orders/*").lasting(Duration.ofHours(1)));
        live.ticker.advance(Duration.ofHours(1));

        assertThat(events)
                .containsExactly(
                        new RateLimitChangedEvent(EXTRA, Cause.OPERATOR, null, OFF, ON),
                        new RateLimitChangedEvent(EXTRA, Cause.EXPIRY, null, ON, OFF));
    }

    @ParameterizedTest
    @EnumSource(names = {"ENFORCE", "SHADOW"})
    void change_thatDoesNotSayWhere_isRefused_andPutsNothingInForce(Mode mode) {
        LiveRules live = new LiveRules("p.limit=100/minute");

        for (RateLimitChange change : List.of(RateLimitChange.toLimit("1/minute"), RateLimitChange.toMode(mode))) {
            assertThatThrownBy(() -> live.policies.change(EXTRA, change))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is in force nowhere yet; write paths as well");
            assertThatThrownBy(() -> live.preview(EXTRA, change, false, null, true))
                    .hasMessageContaining("write paths as well");
        }

        assertThat(live.admitted(5, get("/orders/1"))).isEqualTo(5);
    }

    @Test
    void mode_thatAnotherInstanceHasSet_whileThisOneEndedThePaths_putsNothingInForce() {
        LiveRules live = new LiveRules("p.limit=100/minute");

        RulesInForce now = live.rules
                .read(Map.of(EXTRA, new RateLimitChange("1/minute", null, Mode.ENFORCE)))
                .rules();

        assertThat(now.mode(EXTRA)).isEqualTo(Mode.OFF);
    }

    @Test
    void paths_areInTheHistory() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        live.policies.change(EXTRA, on("/login"));

        live.policies.change(EXTRA, on("/**"));

        HistoryEntry widened = live.policies.history(10).get(0);
        assertThat(widened.from()).endsWith("mode enforce, on /login");
        assertThat(widened.to()).endsWith("mode enforce, on /**");
    }

    @Test
    void overrides_ofAPolicyThatIsGone_canBeSeenAndRemoved_andAreToldWhenItComesBack() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        live.policies.change(EXTRA, on("/login"));
        live.policies.override(EXTRA, "192.0.2.7", KeyOverride.blocked());
        live.policies.override(EXTRA, "192.0.2.8", KeyOverride.blocked());
        live.policies.restore(EXTRA);

        assertThat(live.policies.overrides(EXTRA)).hasSize(2);
        assertThat(live.policies.removeOverride(EXTRA, "192.0.2.7")).isTrue();

        assertThat(live.edit(EXTRA, on("/orders/*"), false, null, false).get("remark"))
                .isEqualTo("overrides of 1 key under this policy, from when it was in force before, apply again");
        assertThat(live.admits(get("/orders/1").from("192.0.2.8"))).isFalse();
        assertThat(live.admits(get("/orders/1").from("192.0.2.7"))).isTrue();
    }

    @Test
    void pattern_thatWouldThrowForEachPath_isRefused_andChangesNothing() {
        LiveRules live = new LiveRules("p.limit=100/minute");

        assertThatThrownBy(() -> live.policies.change(EXTRA, on("/login", "/a/{id:(\\d+)}")))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageContaining("write (?: in place of (");

        assertThat(live.policies.names()).containsExactly("p");
        assertThat(live.admits(get("/a/1"))).isTrue();
    }

    @Test
    void limit_thatOutlivesThePaths_limitsNothing() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        live.policies.change(EXTRA, on("/orders/*").lasting(Duration.ofHours(1)));
        live.policies.change(EXTRA, RateLimitChange.toLimit("1/minute").lasting(Duration.ofHours(3)));
        assertThat(live.admitted(5, get("/orders/1"))).isOne();

        live.ticker.advance(Duration.ofHours(1));

        assertThat(live.admitted(5, get("/orders/1"))).isEqualTo(5);
        assertThat(live.admitted(5, get("/x"))).isEqualTo(5);
    }

    @Test
    void mode_endsWithThePathsThatAreGivenLater() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        live.policies.change(
                EXTRA, RateLimitChange.toMode(Mode.SHADOW).onPaths("/orders/*").lasting(Duration.ofHours(1)));
        live.policies.change(
                EXTRA,
                new RateLimitChange(null, null, null).onPaths("/orders/*", "/x").lasting(Duration.ofHours(2)));

        live.ticker.advance(Duration.ofHours(1));
        assertThat(live.rules.inForce().mode(EXTRA)).isEqualTo(Mode.SHADOW);
        assertThat(live.admitted(100, get("/x"))).isEqualTo(100);
        live.ticker.advance(Duration.ofHours(1));

        assertThat(live.policies.names()).containsExactly("p");
    }

    @Test
    void annotation_withTheNameOfOneOfThem_isAMistake() {
        assertThatThrownBy(() -> new LiveRules(Named.class, "p.limit=100/minute"))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageContaining(
                        "operators put a policy in force that is called 'extra-by-address'; rename this one");
    }

    static class Named {

        @RateLimited(value = "3/minute", name = EXTRA)
        void one() {}
    }

    @Test
    void trial_endsWithThePolicy_andItsResultStays() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        live.policies.change(EXTRA, on("/orders/*"));
        live.policies.startTrial(EXTRA, RateLimitTrial.of("1/minute"));
        assertThat(live.admitted(3, get("/orders/1"))).isEqualTo(2);

        live.policies.restore(EXTRA);

        assertThat(live.report(EXTRA, null, false)).containsEntry("mode", "off").containsKey("trial");
        assertThat(live.admitted(3, get("/orders/1"))).isEqualTo(3);
        assertThat(live.policies.trial(EXTRA)).isNotNull();
    }

    @Test
    void observer_isToldTheNames_andWhatItThrowsFailsNoChange() {
        LiveRules live = new LiveRules("p.limit=100/minute");
        List<Set<String>> told = new ArrayList<>();
        live.watchers.add(names -> {
            told.add(names);
            throw new IllegalStateException("broken");
        });

        live.policies.change(EXTRA, on("/orders/*").lasting(Duration.ofHours(1)));
        live.ticker.advance(Duration.ofHours(1));

        assertThat(told).containsExactly(Set.of(EXTRA, "p"), Set.of("p"));
    }

    @Test
    void changes_keepPaths_withCommas() {
        LiveRules live = new LiveRules("p.limit=100/hour");
        live.policies.change(EXTRA, on("/a/{id:[0-9]{1,3}}", "/b"));
        assertThat(live.admitted(5, get("/a/123"))).isEqualTo(2);
        assertThat(live.admitted(5, get("/a/1234"))).isEqualTo(5);
    }
}
