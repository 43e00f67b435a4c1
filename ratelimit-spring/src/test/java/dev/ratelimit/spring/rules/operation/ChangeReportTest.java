package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitChange.OfPlan;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.convert.DurationStyle;

/** Changes of everything besides limit, burst and mode; and what a change would do. */
class ChangeReportTest {

    private static final PlanResolver BY_NAME =
            request -> String.valueOf(request.header("X-Plan")).equals("pro") ? "pro" : "none";

    static final class Pages {

        @RateLimited(value = "3/hour", key = "header:X-Id")
        void page() {}
    }

    private static LiveRules withPlans() {
        return new LiveRules(
                Map.of("planResolver", BY_NAME),
                "p.limit=2/hour",
                "p.plans.pro.limit=10/hour",
                "p.plans.pro.burst=20",
                "p.plans.partner=unlimited",
                "p.key=user");
    }

    private static RecordedRequest pro(String user) {
        return get("/orders/1").by(user).with("X-Plan", "pro");
    }

    @Test
    void changeWithAnEnd_inPlaceOfAnother_saysThatThatOneDoesNotComeBack() {
        LiveRules live = new LiveRules(
                Map.of("planResolver", BY_NAME), "p.limit=100/minute", "p.key=user", "p.plans.pro.limit=10/hour");
        RateLimitChange later = RateLimitChange.toLimit("300/minute").lasting(Duration.ofHours(2));
        assertThat(String.valueOf(live.preview("p", later, false, null, false).get("remark")))
                .doesNotContain("at its end");

        live.policies.change("p", RateLimitChange.toLimit("40/minute"));

        assertThat(String.valueOf(live.preview("p", later, false, null, false).get("remark")))
                .contains("at its end, what the configuration says is in force again, and not 40/minute");
        assertThat(String.valueOf(live.preview("p", RateLimitChange.toLimit("300/minute"), false, null, false)
                        .get("remark")))
                .doesNotContain("at its end");

        live.policies.change("p", RateLimitChange.toPlan("pro", "40/hour"));
        RateLimitChange ofPlan = RateLimitChange.toPlan("pro", "60/hour").lasting(Duration.ofHours(2));
        assertThat(String.valueOf(live.preview("p", ofPlan, false, null, false).get("remark")))
                .contains("at its end", "plan pro 40/hour");
    }

    @Test
    void plan_isChanged_withItsBurst_andOthersStay_untilThePolicyIsRestored() {
        LiveRules live = withPlans();
        assertThat(live.admitted(20, pro("alice"))).isEqualTo(20);

        live.policies.change("p", RateLimitChange.toPlan("pro", "40/hour"));

        assertThat(live.report("p", null, false))
                .containsEntry("changed", "plan pro 40/hour")
                .containsEntry("limit", "2/hour")
                .containsEntry("plans", Map.of("pro", "40/hour", "partner", "unlimited", "default", "2/hour"))
                .containsEntry("planBursts", Map.of("pro", 20L));
        assertThat(live.admitted(99, pro("bob"))).isEqualTo(20);
        live.policies.change(
                "p", new RateLimitChange(null, null, null, null, null, Map.of("pro", new OfPlan(null, 0L))));
        assertThat(live.report("p", null, false))
                .containsEntry("changed", "plan pro 40/hour burst 0")
                .doesNotContainKey("planBursts");
        assertThat(live.admitted(99, pro("carol"))).isEqualTo(40);
        assertThat(live.admitted(99, get("/orders/1").by("dave"))).isEqualTo(2);
        live.policies.change("p", RateLimitChange.toPlan("pro", "blocked"));
        assertThat(live.admitted(99, pro("erna"))).isZero();
        live.policies.restore("p");
        assertThat(live.admitted(99, pro("frank"))).isEqualTo(20);
        assertThat(live.liveChanges.isChanged("p")).isFalse();
    }

    @Test
    void penalty_begins_isShorter_andEnds() {
        LiveRules live = new LiveRules("p.limit=1/minute", "p.key=user");

        live.policies.change("p", RateLimitChange.toPenalty(Duration.ofHours(1)));

        assertThat(live.report("p", null, false))
                .containsEntry("penalty", 3600.0)
                .containsEntry("changed", "penalty 1h");
        assertThat(live.admitted(2, get("/orders/1").by("alice"))).isOne();
        live.ticker.advance(Duration.ofMinutes(10));
        assertThat(live.admits(get("/orders/1").by("alice"))).isFalse();
        live.policies.change("p", RateLimitChange.toPenalty(Duration.ofMinutes(15)));
        live.ticker.advance(Duration.ofMinutes(5));
        assertThat(live.admits(get("/orders/1").by("alice"))).isTrue();
        assertThat(live.admits(get("/orders/1").by("alice"))).isFalse();
        live.policies.change("p", RateLimitChange.toPenalty(Duration.ZERO));
        live.ticker.advance(Duration.ofMinutes(1));
        assertThat(live.admits(get("/orders/1").by("alice"))).isTrue();
        assertThat(live.report("p", null, false)).doesNotContainKey("penalty").containsEntry("changed", "penalty none");
    }

    @Test
    void maxWait_isThatOfNewcomers_andOfBothHalves() {
        LiveRules live = new LiveRules(
                "p.limit=1/hour", "p.concurrency=50", "p.on-exceeded.action=wait", "p.on-exceeded.max-wait=1m");
        WaitingRequests waiting = new WaitingRequests(live.rules, live.store, live.ticker, live.ticker);
        live.watch(waiting);
        RequestLimiter limiter =
                new RequestLimiter(live.rules, LiveRules.bind(), waiting, OutcomeCounter.NONE, live.ticker, null);
        assertThat(limiter.charge(null, get("/"), true).isRefused()).isFalse();
        assertThat(limiter.charge(null, get("/"), true).isRefused()).isTrue();

        assertThat(live.edit("p", RateLimitChange.toMaxWait(Duration.ofHours(1)), false, null, false))
                .containsEntry("maxWait", 3600.0)
                .containsEntry(
                        "remark",
                        "requests that already wait keep the time that they have, unless their permits take longer than the"
                                + " new one")
                .containsEntry("to", "1/hour (token-bucket), mode enforce, waits up to 1h (at most 100 requests)");

        assertThat(limiter.charge(null, get("/"), true).isRefused()).isFalse();
        assertThat(waiting.waiting("p")).isOne();
        live.ticker.advance(Duration.ofMinutes(59).plusSeconds(30));
        assertThat(waiting.waiting("p")).isOne();
        live.policies.restore("p");
        // its own permit comes in time for the shorter wait as well
        assertThat(waiting.waiting("p")).isOne();
        assertThat(limiter.charge(null, get("/"), true).isRefused()).isTrue();
        assertThat(live.report("p/concurrency", null, false)).containsEntry("maxWait", 60.0);
        waiting.close();
    }

    @Test
    void preview_tellsWhatAChangeWouldDo_andDoesNothing() {
        LiveRules live = new LiveRules("p.limit=600/minute", "p.burst=800");
        String version = String.valueOf(live.report("p", null, false).get("version"));

        Map<String, Object> preview = live.preview("p", RateLimitChange.toLimit("50/minute"), false, version, false);

        assertThat(preview)
                .containsEntry("dryRun", true)
                .containsEntry("limit", "50/minute")
                .containsEntry("changed", "limit 50/minute")
                .containsEntry("version", version)
                .containsEntry("from", "600/minute (token-bucket, burst 800), mode enforce")
                .containsEntry("to", "50/minute (token-bucket, burst 800), mode enforce")
                .hasEntrySatisfying(
                        "remark", remark -> assertThat(remark).asString().contains("still 800"));
        assertThat(live.report("p", null, false)).containsEntry("limit", "600/minute");
        assertThat(live.liveChanges.isChanged("p")).isFalse();
        assertThat(live.edit("p", RateLimitChange.toLimit("50/minute"), false, version, false))
                .containsEntry("to", preview.get("to"))
                .containsEntry("remark", preview.get("remark"));
        assertThatThrownBy(() -> live.preview("p", RateLimitChange.toMode(Mode.OFF), false, version, false))
                .isInstanceOf(StaleVersionException.class);
        assertThatThrownBy(() -> live.preview("p", RateLimitChange.toLimit("never"), false, null, false))
                .isInstanceOf(RateLimitConfigurationException.class);
        assertThat(live.preview("p", new RateLimitChange(null, null, null), true, null, false))
                .containsEntry("limit", "600/minute")
                .doesNotContainKey("changed");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            p             | penalty 500ms      | penalty must be at least 1s
            p             | penalty 400d       | at most 365 days
            p             | max-wait 1s        | max-wait belongs to action: wait, but the action is reject
            p             | plan free 9/hour   | there is no such plan; the plans are partner, pro, and others need the configuration
            p             | plan default 9/hour| callers without a plan have the limit of the policy
            p             | plan pro never     | 'never' is not a limit
            w             | plan pro 9/hour    | the policy has no plans; plans need the configuration
            w             | max-wait 2h        | max-wait must be above 0 and at most 1h
            w             | penalty 1m         | requests cannot wait for a policy with a penalty
            w/concurrency | penalty 1m         | has only a limit and a mode of its own; change the policy 'w'
            w/concurrency | max-wait 1s        | has only a limit and a mode of its own; change the policy 'w'
            c             | plan pro 9/hour    | '9/hour' is not a number of requests at once
            Pages.page    | penalty 1m         | a policy that an annotation writes out has no penalty
            """)
    void change_thatCannotBe_isRefused_withTheReason(String policy, String change, String message) {
        LiveRules live = policy.equals("Pages.page")
                ? new LiveRules(Pages.class)
                : new LiveRules(
                        Map.of("planResolver", BY_NAME),
                        "p.limit=2/hour",
                        "p.plans.pro=10/hour",
                        "p.plans.partner=unlimited",
                        "ratelimit.policies.c.concurrency=5",
                        "ratelimit.policies.c.plans.pro=10",
                        "ratelimit.policies.w.limit=2/hour",
                        "ratelimit.policies.w.concurrency=5",
                        "ratelimit.policies.w.on-exceeded.action=wait");
        List<String> words = List.of(change.strip().split(" "));

        assertThatThrownBy(() -> live.policies.change(policy, changeOf(words)))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageContaining(message);

        assertThat(live.liveChanges.isChanged(policy)).isFalse();
    }

    private static RateLimitChange changeOf(List<String> words) {
        String last = words.get(words.size() - 1);
        return switch (words.get(0)) {
            case "penalty" -> RateLimitChange.toPenalty(time(last));
            case "max-wait" -> RateLimitChange.toMaxWait(time(last));
            default -> RateLimitChange.toPlan(words.get(1), last);
        };
    }

    private static Duration time(String text) {
        return DurationStyle.detectAndParse(text);
    }

    /** What has been changed, the latest last, as it is read back. */
    private static PolicyChange changed(RateLimitChange... changes) {
        Map<String, ChangedValue> values = new HashMap<>();
        for (RateLimitChange change : changes) {
            long at = values.size() + 1L;
            PolicyChange.valuesOf(change)
                    .forEach((property, to) ->
                            values.put(property, new ChangedValue(to, at, ChangedValue.NEVER, "alice", null, "")));
        }
        return PolicyChange.of(new PolicyChange(values).text(Map.of()));
    }

    @Test
    void changes_ofEverything_areReadBack_andGoToOtherInstances() {
        RateLimitChange all = new RateLimitChange(
                "7/hour",
                3L,
                Mode.SHADOW,
                Duration.ofMinutes(10),
                Duration.ofMillis(1500),
                Map.of("a b.c%", new OfPlan("9/hour; 20/day", null), "d", new OfPlan(null, 0L)));

        assertThat(changed(all).all()).isEqualTo(all);
        assertThat(all.toString())
                .isEqualTo(
                        "limit 7/hour, burst 3, mode shadow, penalty 10m, max-wait 1500ms, plan a b.c% 9/hour; 20/day,"
                                + " plan d burst 0");
    }

    @Test
    void fitting_keepsAsManyAndAsNewValuesAsFitTogether_alsoIfOneNeedsAnOlderOne() {
        PolicyChange changed = changed(
                RateLimitChange.toBurst(0),
                RateLimitChange.toPlan("x", "1/hour"),
                RateLimitChange.toLimit("1/hour; 2/day"));

        RateLimitChange fitting = changed.fitting(
                change -> change.plans().isEmpty() && (change.limit() == null || change.burst() != null));

        assertThat(fitting).isEqualTo(new RateLimitChange("1/hour; 2/day", 0L, null));
    }

    @Test
    void fitting_keepsModeAndPathsTogether_soThatNothingIsEnforcedElsewhere() {
        PolicyChange changed = changed(new RateLimitChange(null, null, Mode.ENFORCE).onPaths("/api/1"));

        RateLimitChange fitting = changed.fitting(change -> change.paths() == null);

        assertThat(fitting.mode()).isNull();
        assertThat(changed.fitting(change -> change.paths() == null || change.mode() != null)
                        .paths())
                .containsExactly("/api/1");
    }

    @Test
    void planThatHasABurst_isBlocked_ifThatIsChangedAsWell() {
        LiveRules live = new LiveRules(
                Map.of("plans", (PlanResolver) caller -> null),
                "p.limit=9/hour",
                "p.key=user",
                "p.plans.pro.limit=5/hour",
                "p.plans.pro.burst=7");

        assertThatThrownBy(() -> live.policies.change("p", RateLimitChange.toPlan("pro", "blocked")))
                .hasMessageEndingWith(
                        "it has no effect on a plan that is blocked; change the burst to 0 as well, for none");
        RateLimitChange both = new RateLimitChange(
                null, null, null, null, null, Map.of("pro", new RateLimitChange.OfPlan("blocked", 0L)));
        live.policies.change("p", both);
        assertThat(live.report("p", null, false).toString()).contains("blocked");
    }

    @Test
    void longText_isNotRepeated() {
        LiveRules live = new LiveRules("p.limit=9/hour", "p.key=user");
        String text = "x".repeat(1_000_000);

        assertThatThrownBy(() -> live.policies.change("p", RateLimitChange.toPlan(text, "1/hour")))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(500));
        assertThatThrownBy(() -> new Caller(null, null, List.of(text), null))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(200));
        assertThatThrownBy(() -> RateLimitTrial.of("1/hour").by(text))
                .hasMessage("algorithm must have at most 200 characters but had 1000000");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "100/hour | 20/second; 100/hour | 20/second (token-bucket) begins full for every key",
                "100/hour | 100/hour; 20/second | 20/second (token-bucket) begins full for every key",
                "100/hour; 20/second | 100/hour | what keys have used of 20/second (token-bucket) is forgotten",
                "20/second; 100/hour | 100/hour | what keys have used of 20/second (token-bucket) is forgotten",
                "100/hour | 100/hour; 900/day | 900/day (token-bucket) takes over from 100/hour (token-bucket), 100/hour"
                        + " (token-bucket) begins full for every key",
            })
    void numberOfLimits_thatChanges_isSaidWhatBecomesOfThem(String limit, String changed, String remark) {
        LiveRules live = new LiveRules("p.limit=" + limit);

        Map<String, Object> report = live.edit("p", RateLimitChange.toLimit(changed), false, null, false);

        assertThat(String.valueOf(report.get("remark"))).contains(remark);
    }
}
