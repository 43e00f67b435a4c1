package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Limit;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Seeds;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.trial.Trials;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** Trials of other limits while requests are charged. */
class TrialJournalTest {

    static final class Pages {

        @RateLimited(name = "report", value = "10/hour", key = "user", permits = 5)
        void page() {}
    }

    static final class Twice {

        @RateLimited(policy = "p", permits = 2)
        @RateLimited(policy = "p", permits = 3)
        void page() {}
    }

    private static RecordedRequest by(String user) {
        return get("/orders/1").by(user);
    }

    private static RateLimitTrial.Result result(LiveRules live, String policy) {
        return Objects.requireNonNull(live.policies.trial(policy));
    }

    private static void assertCounts(LiveRules live, long requests, long more, long fewer, long both) {
        RateLimitTrial.Result result = result(live, "p");
        assertThat(List.of(result.requests(), result.more(), result.fewer(), result.both()))
                .as("requests, more, fewer, both")
                .containsExactly(requests, more, fewer, both);
    }

    @Test
    void lowerLimit_refusesNobody_andCountsHowManyMore() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");

        live.policies.startTrial("p", RateLimitTrial.of("2/hour"));

        assertThat(live.admitted(6, by("alice"))).isEqualTo(5);
        assertThat(live.admitted(1, by("bob"))).isOne();
        assertCounts(live, 7, 3, 0, 1);
        assertThat(result(live, "p").refusedKeys()).isOne();
    }

    @Test
    void higherLimit_admitsNobody_andCountsHowManyFewer() {
        LiveRules live = new LiveRules("p.limit=2/hour", "p.key=user");

        live.policies.startTrial("p", RateLimitTrial.of("4/hour"));

        assertThat(live.admitted(6, by("alice"))).isEqualTo(2);
        assertCounts(live, 6, 0, 2, 2);
    }

    @Test
    void requestThatAnotherPolicyRefuses_isNeitherChargedNorCounted() {
        LiveRules live = new LiveRules(
                "p.limit=5/hour", "p.key=user", "ratelimit.policies.q.limit=1/hour", "ratelimit.policies.q.key=user");

        live.policies.startTrial("p", RateLimitTrial.of("2/hour"));

        assertThat(live.admitted(4, by("alice"))).isOne();
        assertCounts(live, 1, 0, 0, 0);
        assertThat(live.trials.report("p", true)).containsEntry("keys", 1L);
    }

    @Test
    void requestThatBothRefuse_isNotCounted_asItWouldBeRefusedAnyway() {
        LiveRules live = new LiveRules(
                "p.limit=1/day", "p.key=user", "ratelimit.policies.q.limit=1/hour", "ratelimit.policies.q.key=user");

        live.policies.startTrial("p", RateLimitTrial.of("9/hour"));

        assertThat(live.admitted(3, by("alice"))).isOne();
        assertCounts(live, 1, 0, 0, 0);
    }

    @Test
    void explanation_isNoRequest_andTakesNothing() {
        LiveRules live = new LiveRules("p.limit=2/hour", "p.key=user");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));

        live.explain(null, by("alice"), List.of(), true);
        live.explain(by("alice"), by("alice"), List.of("p"), true);

        assertCounts(live, 0, 0, 0, 0);
        assertThat(live.admitted(3, by("alice"))).isEqualTo(2);
        assertCounts(live, 3, 1, 0, 1);
        live.explain(null, by("alice"), List.of(), true);
        assertCounts(live, 3, 1, 0, 1);
    }

    @Test
    void policyInShadowMode_isComparedWithWhatItWouldRefuse() {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user", "p.mode=shadow");

        live.policies.startTrial("p", RateLimitTrial.of("2/hour"));

        assertThat(live.admitted(5, by("alice"))).isEqualTo(5);
        assertCounts(live, 5, 1, 0, 2);
    }

    @Test
    void shadowBeside_thatRefuses_changesNothing() {
        LiveRules live = new LiveRules(
                "p.limit=5/hour",
                "p.key=user",
                "ratelimit.policies.q.limit=1/hour",
                "ratelimit.policies.q.key=user",
                "ratelimit.policies.q.mode=shadow");

        live.policies.startTrial("p", RateLimitTrial.of("2/hour"));

        assertThat(live.admitted(4, by("alice"))).isEqualTo(4);
        assertCounts(live, 4, 2, 0, 0);
    }

    @Test
    void keysWithAPlanOrAnOverride_takeNoPart() {
        PlanResolver plans = request -> Objects.equals(request.header("X-Plan"), "pro") ? "pro" : null;
        LiveRules live = new LiveRules(
                Map.of("plans", plans), "p.limit=5/hour", "p.key=user", "p.plans.pro=5/hour", "p.overrides.big=5/hour");
        live.policies.override("p", "late", KeyOverride.to("5/hour"));

        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));

        live.admitted(3, by("big"));
        live.admitted(3, by("late"));
        live.admitted(3, by("paying").with("X-Plan", "pro"));
        assertCounts(live, 0, 0, 0, 0);
        live.admitted(3, by("alice"));
        assertCounts(live, 3, 2, 0, 0);
    }

    @Test
    void freeResponses_areGivenBackToTheTrial_too() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user", "p.count=401");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));

        for (int status : new int[] {200, 200, 401, 200}) {
            ChargedRequest charged = live.limiter.charge(null, by("alice"));
            charged.settle(List.of(status));
        }

        assertCounts(live, 4, 1, 0, 0);
        live.limiter.charge(null, by("bob")).refund();
        live.limiter.charge(null, by("bob"));
        assertCounts(live, 6, 1, 0, 0);
    }

    @Test
    void freeResponse_thatIsCountedAtItsEnd_isGivenBackToTheTrial_too() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=ip", "p.count=401");
        RequestLimiter before = live.limiter.beforeSecurity();
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));

        for (int i = 0; i < 3; i++) {
            ChargedRequest charged = before.charge(null, get("/"));
            charged.settle(List.of(200));
            charged.countAdmitted();
        }

        assertCounts(live, 3, 0, 0, 0);
    }

    @Test
    void policy_whoseCostIsSettled_isRemarked() {
        LiveRules live = new LiveRules("p.limit=50/hour", "p.permits=5");
        live.policies.startTrial("p", RateLimitTrial.of("10/hour"));

        assertThat(live.trials.report("p", true))
                .containsEntry("remark", "the trial counts what requests reserve, whatever the application settles");
    }

    @Test
    void costs_addUp_asTheyDoForThePolicy() {
        LiveRules live = new LiveRules(Pages.class);
        live.policies.startTrial("report", RateLimitTrial.of("5/hour"));

        assertThat(live.admitted(3, get("/page").by("alice"))).isEqualTo(2);

        RateLimitTrial.Result result = result(live, "report");
        assertThat(List.of(result.requests(), result.more(), result.both())).containsExactly(3L, 1L, 1L);
    }

    @Test
    void policy_thatAnEndpointNamesTwice_isTriedOnce_atBothCosts() {
        LiveRules live = new LiveRules(Twice.class, "p.limit=20/hour", "p.key=user", "p.match.annotated=true");
        live.policies.startTrial("p", RateLimitTrial.of("10/hour"));

        assertThat(live.admitted(4, get("/page").by("alice"))).isEqualTo(4);

        assertCounts(live, 4, 2, 0, 0);
    }

    @Test
    void end_isExact_andLeavesTheResult_untilItIsForgotten() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour").lasting(Duration.ofMinutes(10)));
        live.admitted(2, by("alice"));

        live.ticker.advanceNanos(Duration.ofMinutes(10).toNanos() - 1);
        live.admits(by("bob"));
        assertThat(result(live, "p").running()).isTrue();
        live.ticker.advanceNanos(1);
        live.admits(by("alice"));

        RateLimitTrial.Result result = result(live, "p");
        assertThat(result.running()).isFalse();
        assertThat(result.until()).isEqualTo(result.since().plus(Duration.ofMinutes(10)));
        assertCounts(live, 3, 1, 0, 0);
        assertThat(live.trials.report("p", true)).containsEntry("keys", 2L);
        assertThat(live.policies.endTrial("p")).isTrue();
        assertThat(live.policies.trial("p")).isNull();
        assertThat(live.policies.endTrial("p")).isFalse();
    }

    @Test
    void end_beforeItsTime_isKept() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));
        live.ticker.advance(Duration.ofMinutes(3));

        Map<String, Object> last = live.trials.end("p", true);

        assertThat(last)
                .containsEntry("running", false)
                .containsEntry("since", "2027-01-01T00:00:00Z")
                .containsEntry("until", "2027-01-01T00:03:00Z");
        assertThatThrownBy(() -> live.trials.end("p", true)).isInstanceOf(NoSuchElementException.class);
        assertThatThrownBy(() -> live.trials.report("p", true)).isInstanceOf(NoSuchElementException.class);
        assertThatThrownBy(() -> live.policies.trial("q")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void start_again_replacesTheTrial_withFullBudgets() {
        LiveRules live = new LiveRules("p.limit=9/hour", "p.key=user");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));
        live.admitted(3, by("alice"));

        live.policies.startTrial("p", RateLimitTrial.of("2/hour"));

        live.admitted(3, by("alice"));
        assertCounts(live, 3, 1, 0, 0);
    }

    @Test
    void limit_isThatOfAChange_withTheBurstThatThePolicyHas() {
        LiveRules live = new LiveRules("p.limit=10/minute", "p.key=user", "p.burst=30");

        live.policies.startTrial("p", RateLimitTrial.of("5/minute"));
        assertThat(result(live, "p").limits()).hasToString("[5/minute (token-bucket, burst 30)]");
        live.policies.startTrial("p", RateLimitTrial.of("5/minute").withBurst(0));
        assertThat(result(live, "p").limits()).hasToString("[5/minute (token-bucket)]");
        live.policies.change("p", new RateLimitChange(null, 20L, null));
        live.policies.startTrial("p", RateLimitTrial.of("5/minute"));
        assertThat(result(live, "p").limits()).hasToString("[5/minute (token-bucket, burst 20)]");
        live.policies.startTrial("p", RateLimitTrial.of("5/minute; 9/hour").by("sliding-log"));
        assertThat(result(live, "p").limits())
                .extracting(Limit::toString)
                .containsExactly("5/minute (sliding-log)", "9/hour (sliding-log)");
        assertThat(live.policies.policy("p").limits()).hasToString("[10/minute (token-bucket, burst 20)]");
    }

    @ParameterizedTest
    @CsvSource({
        "'', , ",
        "many, , ",
        "5/minute, , sliding",
        "5/minute, 7, sliding-log",
        "5, , concurrency",
        "5/minute; 9/hour, 7, token-bucket",
    })
    void start_withALimitThatThePolicyCannotHave_startsNothing(String limit, Long burst, String algorithm) {
        LiveRules live = new LiveRules("p.limit=10/minute", "p.key=user");

        assertThatThrownBy(() -> live.policies.startTrial(
                        "p", new RateLimitTrial(limit, burst, algorithm, Duration.ofHours(1), null)))
                .isInstanceOfAny(IllegalArgumentException.class, RateLimitConfigurationException.class);

        assertThat(live.policies.trial("p")).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "many | | | limit: ",
                "5/minute; 9/hour | 7 | | burst: ",
                "5/minute | | sliding-lok | algorithm: unknown algorithm",
                "5/minute | 7 | sliding-log | burst: ",
                "5/minute | | sliding-window | align of the policy: align is not an option of sliding-window",
                "2/minute | | | permits of the policy: permits must be from 0 to 2",
                "2/minute | | fixed-window | permits of the policy: permits must be from 0 to 2",
            })
    void mistake_isInTheWordsOfTheRequest(String limit, Long burst, String algorithm, String mistake) {
        LiveRules live = mistake.contains("align")
                ? new LiveRules("p.limit=10/minute", "p.algorithm=fixed-window", "p.align=clock")
                : new LiveRules("p.limit=10/minute", "p.key=user", "p.permits=3");

        assertThatThrownBy(() -> live.policies.startTrial(
                        "p", new RateLimitTrial(limit, burst, algorithm, Duration.ofHours(1), null)))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageStartingWith(mistake)
                .hasMessageNotContaining("ratelimit.policies");
    }

    @Test
    void duration_thatIsTooLong_isRefused_withoutAnotherSpellingOfIt() {
        assertThatThrownBy(() -> RateLimitTrial.of("5/minute").lasting(Duration.ofHours(25)))
                .hasMessageContaining("at most one day")
                .hasMessageNotContaining("PT25H");
    }

    @Test
    void otherAlgorithm_hasThePenaltyAndTheOptionsOfThePolicy() {
        LiveRules live = new LiveRules(
                "p.limit=5/minute",
                "p.penalty=10m",
                "ratelimit.policies.q.limit=5/day",
                "ratelimit.policies.q.algorithm=fixed-window",
                "ratelimit.policies.q.align=clock",
                "ratelimit.policies.q.zone=Europe/Berlin");

        live.policies.startTrial("p", RateLimitTrial.of("3/minute"));
        Limit before = result(live, "p").limits().get(0);
        live.policies.startTrial("p", RateLimitTrial.of("3/minute").by("token-bucket"));
        assertThat(result(live, "p").limits()).containsExactly(before);
        live.policies.startTrial("p", RateLimitTrial.of("3/minute").by("sliding-log"));
        assertThat(result(live, "p").limits().get(0).toString()).contains("sliding-log", "penalty");
        live.policies.startTrial("q", RateLimitTrial.of("3/day"));
        Limit aligned = result(live, "q").limits().get(0);
        live.policies.startTrial("q", RateLimitTrial.of("3/day").by("fixed-window"));
        assertThat(result(live, "q").limits()).containsExactly(aligned);
    }

    @Test
    void otherAlgorithm_mustAdmitTheCostOfAnEndpoint() {
        LiveRules live = new LiveRules(Pages.class);

        assertThatThrownBy(() -> live.policies.startTrial(
                        "report", RateLimitTrial.of("4/hour").by("sliding-log")))
                .hasMessageContaining("permits must be from 0 to 4");
        live.policies.startTrial("report", RateLimitTrial.of("5/hour").by("sliding-log"));
        assertThat(result(live, "report").limits()).hasToString("[5/hour (sliding-log)]");
    }

    @Test
    void policy_thatIsOffMeanwhile_isRemarked() {
        LiveRules live = new LiveRules("p.limit=10/minute", "p.key=user");
        live.policies.startTrial("p", RateLimitTrial.of("5/minute"));
        assertThat(live.trials.report("p", true)).doesNotContainKey("remark");

        live.policies.change("p", RateLimitChange.toMode(Mode.OFF));

        live.admits(by("alice"));
        assertThat(live.trials.report("p", true))
                .containsEntry("running", true)
                .containsEntry("requests", 0L)
                .containsEntry("remark", "the policy is off, so no request reaches the trial");
        live.policies.change("p", RateLimitChange.toMode(Mode.ENFORCE));
        assertThat(live.trials.report("p", true)).doesNotContainKey("remark");
    }

    @Test
    void start_ofAPolicyThatIsOff_orCountsRequestsAtOnce_isRefused() {
        LiveRules live = new LiveRules("p.limit=10/minute", "p.concurrency=3", "p.mode=off");

        assertThatThrownBy(() -> live.policies.startTrial("p", RateLimitTrial.of("5/minute")))
                .hasMessageContaining("off");
        live.policies.change("p", RateLimitChange.toMode(Mode.ENFORCE));
        assertThatThrownBy(() -> live.policies.startTrial("p/concurrency", RateLimitTrial.of("5")))
                .hasMessageContaining("at once");
        assertThatThrownBy(() -> live.policies.startTrial("q", RateLimitTrial.of("5/minute")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void trials_areAtMostTen() {
        String[] properties = new String[11];
        for (int i = 0; i < properties.length; i++) {
            properties[i] = "ratelimit.policies.p" + i + ".limit=9/hour";
        }
        LiveRules live = new LiveRules(properties);
        for (int i = 0; i < 10; i++) {
            live.policies.startTrial("p" + i, RateLimitTrial.of("5/hour"));
        }

        assertThatThrownBy(() -> live.policies.startTrial("p10", RateLimitTrial.of("5/hour")))
                .hasMessageContaining("at most 10 trials");
        live.policies.startTrial("p3", RateLimitTrial.of("6/hour"));
        live.ticker.advance(RateLimitTrial.DEFAULT_DURATION);
        live.policies.startTrial("p10", RateLimitTrial.of("5/hour"));
    }

    @Test
    void change_ofThePolicy_goesOnWithTheTrial() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));
        live.admits(by("alice"));

        live.policies.change("p", RateLimitChange.toLimit("100/hour"));
        live.policies.override("p", "bob", KeyOverride.blocked());

        live.admits(by("alice"));
        assertCounts(live, 2, 1, 0, 0);
    }

    @Test
    void refresh_thatChangesTheKey_endsTheTrial_asItsBudgetsAreOthers() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));
        live.admits(by("alice"));
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test", Map.of("ratelimit.policies.p.limit", "5/hour", "ratelimit.policies.p.key", "ip")));

        assertThat(live.configuration.refresh(environment)).isTrue();

        live.admits(by("alice"));
        assertCounts(live, 1, 0, 0, 0);
        assertThat(result(live, "p").running()).isFalse();
    }

    @Test
    void report_namesKeysAndEndpoints_orHashes() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");
        live.identify(() -> "ops");

        Map<String, Object> started =
                live.trials.start("p", RateLimitTrial.of("1/hour").because("ticket 12"), true);
        live.admitted(3, by("alice"));
        live.admitted(2, by("bob"));

        assertThat(started)
                .containsEntry("policy", "p")
                .containsEntry("limits", List.of("1/hour (token-bucket)"))
                .containsEntry("present", List.of("5/hour (token-bucket)"))
                .containsEntry("by", "ops")
                .containsEntry("reason", "ticket 12")
                .containsEntry("until", "2027-01-01T01:00:00Z")
                .containsEntry("running", true);
        Map<String, Object> report = live.trials.report("p", true);
        assertThat(report)
                .containsEntry("requests", 5L)
                .containsEntry("refused", 3L)
                .containsEntry("refusedNow", 0L)
                .containsEntry("more", 3L)
                .containsEntry("fewer", 0L)
                .containsEntry("keys", 2L)
                .containsEntry("refusedKeys", 2)
                .containsEntry(
                        "mostRefused",
                        List.of(
                                Map.of("key", List.of("alice"), "refused", 2L),
                                Map.of("key", List.of("bob"), "refused", 1L)))
                .containsEntry("mostRefusedEndpoints", List.of(Map.of("endpoint", "GET /orders/{id}", "refused", 3L)));
        assertThat(live.report("p", null, true)).containsEntry("trial", report);
        assertThat(live.trials.report("p", false).toString()).doesNotContain("alice");
    }

    @Test
    void observers_areTold() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");
        Map<String, Object> told = new HashMap<>();
        live.observers.add((policy, what) -> told.putAll(what));

        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));
        live.policies.endTrial("p");

        assertThat(told)
                .containsEntry("trial", "[1/hour (token-bucket)]")
                .containsEntry("endedTrial", "[1/hour (token-bucket)]");
    }

    @Test
    void requestThatTurnsOutToBeExempt_isNotTheTrials() {
        LiveRules live =
                new LiveRules("p.limit=5/hour", "p.key=ip", "ratelimit.exempt.when=#principal?.name == 'boss'");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));

        for (String user : List.of("boss", "boss", "alice", "alice")) {
            ChargedRequest before = live.limiter.beforeSecurity().charge(null, get("/orders/1"));
            live.limiter.afterSecurity().charge(before, by(user)).countAdmitted();
        }

        assertCounts(live, 2, 1, 0, 0);
    }

    @Test
    void shadowThatTheStoreCannotDecide_isNotCounted() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user", "p.mode=shadow");
        RateLimitStore failing = new ForwardingStore(live.store) {
            @Override
            public Decision decide(List<Charge> charges) {
                throw new StoreUnavailableException("p", Duration.ofSeconds(1), "no answer");
            }
        };
        RequestLimiter limiter = new RequestLimiter(
                live.rules,
                LiveRules.bind(),
                new WaitingRequests(live.rules, failing, live.ticker, live.ticker),
                OutcomeCounter.NONE,
                live.ticker,
                null);
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));

        assertThat(limiter.charge(null, by("alice")).isRefused()).isFalse();

        assertCounts(live, 0, 0, 0, 0);
    }

    /** What a trial counts is what the same limit refuses when it is in force. */
    @Test
    void trial_countsWhatTheLimitWouldRefuse_inForce() {
        for (int run = 0; run < 50; run++) {
            long seed = Seeds.next();
            Random random = new Random(seed);
            String algorithm = List.of("token-bucket", "fixed-window", "sliding-window", "sliding-log")
                    .get(random.nextInt(4));
            String[] limits = {(1 + random.nextInt(9)) + "/minute", (1 + random.nextInt(9)) + "/minute"};
            String[] other = {"p.key=user", "p.algorithm=" + algorithm};
            LiveRules now = new LiveRules("p.limit=" + limits[0], other[0], other[1]);
            LiveRules then = new LiveRules("p.limit=" + limits[1], other[0], other[1]);
            now.policies.startTrial("p", RateLimitTrial.of(limits[1]));
            long[] counts = new long[4];

            for (int i = 0; i < 200; i++) {
                Duration step = Duration.ofMillis(random.nextInt(2_000));
                now.ticker.advance(step);
                then.ticker.advance(step);
                String user = "u" + random.nextInt(3);
                boolean refusedNow = !now.admits(by(user));
                boolean refusedThen = !then.admits(by(user));
                counts[(refusedNow ? 2 : 0) + (refusedThen ? 1 : 0)]++;
            }

            RateLimitTrial.Result result = result(now, "p");
            assertThat(List.of(result.requests(), result.more(), result.fewer(), result.both()))
                    .as("seed %d, %s: %s, then %s", seed, algorithm, limits[0], limits[1])
                    .containsExactly(200L, counts[1], counts[2], counts[3]);
        }
    }

    @Test
    void trial_underAClockThatMovesAtEachReading_endsOnce_andLosesNoRequest() {
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");
        live.ticker.advanceOnRead(Duration.ofSeconds(1));
        live.policies.startTrial("p", RateLimitTrial.of("2/hour").lasting(Duration.ofMinutes(2)));

        int asked = 0;
        while (result(live, "p").running()) {
            live.admits(by("alice"));
            asked++;
        }
        live.admitted(3, by("alice"));

        assertThat(result(live, "p").requests()).isBetween(asked - 1L, (long) asked);
    }

    @Test
    void clockThatFails_failsNoRequest_andChargesNothing() {
        Ticker[] clock = new Ticker[1];
        LiveRules live = new LiveRules("p.limit=5/hour", "p.key=user");
        clock[0] = live.ticker;
        Ticker broken = new Ticker() {
            @Override
            public long nanos() {
                return clock[0].nanos();
            }

            @Override
            public long epochNanos() {
                return clock[0].epochNanos();
            }
        };
        Trials trials = new Trials(live.rules, broken);
        RequestLimiter limiter = live.limiter(trials);
        LivePolicies policies = new Operated(live.rules, InMemoryStore.create(), broken, trials, false).policies;
        policies.startTrial("p", RateLimitTrial.of("1/hour"));
        Ticker real = clock[0];
        clock[0] = new Ticker() {
            @Override
            public long nanos() {
                throw new IllegalStateException("no clock");
            }

            @Override
            public long epochNanos() {
                throw new IllegalStateException("no clock");
            }
        };

        for (int i = 0; i < 3; i++) {
            assertThat(limiter.charge(null, by("alice")).isRefused()).isFalse();
        }

        clock[0] = real;
        assertThat(Objects.requireNonNull(policies.trial("p")).requests()).isZero();
    }
}
