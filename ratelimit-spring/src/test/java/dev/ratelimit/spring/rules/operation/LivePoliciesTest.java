package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Policies by name, the state of keys by their plain values, and changes while requests are charged. */
@ExtendWith(OutputCaptureExtension.class)
class LivePoliciesTest {

    static final class Pages {

        @RateLimited(policy = "p", permits = 5)
        void search() {}

        @RateLimited(value = "3/hour", key = "header:X-Id")
        void page() {}
    }

    private static List<Long> remaining(RateLimitPolicies policies, String policy, String... key) {
        return policies.state(policy, key).stream().map(LimitStatus::remaining).toList();
    }

    @Test
    void names_areOfConfigurationAndAnnotations_evenIfOff() {
        LiveRules live = new LiveRules(
                Pages.class, "p.limit=10/hour", "ratelimit.policies.b.limit=1/hour", "ratelimit.policies.b.mode=off");

        assertThat(live.policies.names()).containsExactly("Pages.page", "b", "p");
        assertThat(live.policies.policy("Pages.page").limits()).containsExactly(TokenBucket.of(Rate.parse("3/hour")));
        assertThat(live.policies.mode("b")).isEqualTo(Mode.OFF);
        assertThatThrownBy(() -> live.policies.policy("Pages.pages"))
                .hasMessageContaining("there is no policy 'Pages.pages'")
                .hasMessageContaining("Pages.page");
    }

    @Test
    void report_namesTheAnnotatedEndpoints_withTheirCosts_andNoStageIfThereIsOne() {
        LiveRules live = new LiveRules(
                Pages.class, "p.limit=10/hour", "p.match.annotated=true", "ratelimit.policies.all.limit=10/hour");

        assertThat(live.report("all", null, false)).doesNotContainKey("annotated");
        assertThat(live.report("p", null, false))
                .containsEntry("annotated", List.of(Map.of("endpoint", "GET /search", "permits", "5")))
                .containsEntry("permits", "1")
                .doesNotContainKey("stage");
        assertThat(live.report("Pages.page", null, false))
                .containsEntry("annotated", List.of(Map.of("endpoint", "GET /page", "permits", "1")));
        live.rules.report(true, "", "");
        assertThat(live.report("p", null, false)).containsEntry("stage", "before-security");
    }

    @Test
    void state_ofAPlainKey_isThatOfItsRequests() {
        LiveRules live = new LiveRules("p.limit=10/hour; 20/day", "p.key=user, endpoint");
        live.admitted(4, get("/orders/1").by("alice"));
        live.admitted(2, get("/orders/1").from("10.0.0.7"));

        assertThat(remaining(live.policies, "p", "alice", "GET /orders/{id}")).containsExactly(6L, 16L);
        assertThat(remaining(live.policies, "p", " alice ", "GET /orders/{id}")).containsExactly(6L, 16L);
        assertThat(remaining(live.policies, "p", "Alice", "GET /orders/{id}")).containsExactly(10L, 20L);
        assertThat(remaining(live.policies, "p", "ip:10.0.0.7", "GET /orders/{id}"))
                .containsExactly(8L, 18L);
        assertThatThrownBy(() -> live.policies.state("p", "alice"))
                .hasMessage("the key of policy 'p' has 2 parts: [user, endpoint], but there is 1 value; write one value"
                        + " for each part");
    }

    @Test
    void state_ofEveryKindOfKey_isThatOfItsRequests() {
        LiveRules live = new LiveRules(
                "p.limit=10/hour",
                "p.key=ip, method, header:X-Id, query:q, cookie:c, principal, path:id",
                "ratelimit.ipv6-prefix=64");
        live.admitted(
                3,
                new RecordedRequest("POST", "/orders/7")
                        .from("2001:db8::1")
                        .with("X-Id", "x")
                        .withQuery("q=1")
                        .withCookie("c", "2")
                        .by("bob"));

        assertThat(remaining(live.policies, "p", "2001:db8::2", "POST", "x", "1", "2", "bob", "7"))
                .containsExactly(7L);
        assertThat(remaining(live.policies, "p", "2001:db8:0:0::/64", "POST", "x", "1", "2", "bob", "7"))
                .containsExactly(7L);
        assertThatThrownBy(() -> live.policies.state("p", "here", "POST", "x", "1", "2", "bob", "7"))
                .hasMessageContaining("'here' is not an address");
        assertThatThrownBy(() -> live.policies.state("p", "::1", "POST", " ", "1", "2", "bob", "7"))
                .hasMessageContaining("the value of header:x-id is blank");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            user | #e90c73466232 | stands for a key that is not shown; write the key
            user | IP:10.0.0.999 | is not an address; write
            user | ip:10.0.0.0/24 | is a network, of which each caller has a budget
            ip | 10.0.0.7/8 | is a network, of which each caller has a budget
            ip | #e90c73466232 | stands for a key that is not shown""")
    void key_thatNoRequestHas_isRefused_whateverIsDoneWithIt(String by, String key, String why) {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=" + by);

        assertThatThrownBy(() -> live.policies.reset("p", key)).hasMessageContaining(why);
        assertThatThrownBy(() -> live.policies.state("p", key)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void key_asReportsShowIt_whenItIsHidden_isRefused() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");

        assertThatThrownBy(() -> live.policies.reset("p", new KeyDisplay().hash("any")))
                .hasMessageContaining("stands for a key that is not shown");
    }

    @Test
    void key_thatLooksLikeAnother_isWrittenWithABackslash() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");
        live.admitted(3, get("/").by("#e90c73466232"));
        live.admitted(2, get("/").from("10.0.0.7"));
        Rule rule = live.rules.inForce().rule("p");
        String key = PlainKey.of(rule, live.rules.inForce().sources(), List.of("\\#e90c73466232"))
                .key();

        assertThat(remaining(live.policies, "p", "\\#e90c73466232")).containsExactly(7L);
        assertThat(PlainKey.valuesOf(rule, key)).containsExactly("\\#e90c73466232");
        assertThat(remaining(live.policies, "p", "IP:10.0.0.7")).containsExactly(8L);
        assertThat(remaining(live.policies, "p", "ip:10.0.0.7/32")).containsExactly(8L);
    }

    @Test
    void plainKey_ofAChargedKey_isReadBack() {
        LiveRules live = new LiveRules(
                "p.limit=10/hour", "p.key=user, ip, header:X-Id", "p.missing-key=shared", "ratelimit.ipv4-prefix=24");
        Rule rule = live.rules.inForce().rule("p");
        RequestContext anonymous = live.rules.inForce().context(get("/").from("10.1.2.3"));

        List<String> values = Objects.requireNonNull(
                PlainKey.valuesOf(rule, Objects.requireNonNull(rule.key().of(anonymous))));

        assertThat(values).containsExactly("ip:10.1.2.0/24", "10.1.2.0/24", "-");
        assertThat(PlainKey.of(rule, live.rules.inForce().sources(), values).key())
                .isEqualTo(rule.key().of(anonymous));
        assertThat(PlainKey.valuesOf(rule, "#" + "x".repeat(43))).isNull();
    }

    @Test
    void plainKeys_ofRandomValues_areReadBack() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=header:A, header:B");
        Rule rule = live.rules.inForce().rule("p");
        Random random = new Random(Seeds.next());
        for (int round = 0; round < 200; round++) {
            List<String> values = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                StringBuilder text = new StringBuilder("x");
                for (int j = random.nextInt(8); j > 0; j--) {
                    text.append("a1:h#-\u00e9ip ".charAt(random.nextInt(10)));
                }
                values.add(text.append('y').toString());
            }
            String key =
                    PlainKey.of(rule, live.rules.inForce().sources(), values).key();

            assertThat(PlainKey.valuesOf(rule, key)).isEqualTo(values);
        }
    }

    @Test
    void charge_inOwnCode_takesFromTheBudgetOfRequests() {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user");

        assertThat(live.own.tryAcquire(live.policies.charge("p", "alice").plus(1)))
                .isTrue();

        assertThat(live.admitted(5, get("/").by("alice"))).isEqualTo(1);
        assertThat(live.own.tryAcquire(live.policies.charge("p", "alice"))).isFalse();
        assertThat(live.own.tryAcquire(live.policies.charge("p", "bob"))).isTrue();
    }

    @Test
    void charge_ofAnOverriddenKey_hasItsLimits() {
        LiveRules live = new LiveRules(
                "p.limit=1/hour",
                "p.key=user",
                "p.overrides.vip=5/hour",
                "p.overrides.free=unlimited",
                "p.overrides.bad=blocked");

        assertThat(remaining(live.policies, "p", "vip")).containsExactly(5L);
        assertThat(remaining(live.policies, "p", "free")).isEmpty();
        for (int i = 0; i < 9; i++) {
            assertThat(live.own.tryAcquire(live.policies.charge("p", "free"))).isTrue();
        }
        assertThat(live.own.tryAcquire(live.policies.charge("p", "bad"))).isFalse();
        live.policies.change("p", RateLimitChange.toMode(Mode.OFF));
        assertThat(live.own.tryAcquire(live.policies.charge("p", "bad"))).isTrue();
    }

    @Test
    void overrides_byNetwork_applyToPlainAddresses() {
        LiveRules live = new LiveRules("p.limit=1/hour", "p.key=ip", "p.overrides[10.0.0.0/8]=7/hour");

        assertThat(remaining(live.policies, "p", "10.9.9.9")).containsExactly(7L);
        assertThat(remaining(live.policies, "p", "11.9.9.9")).containsExactly(1L);
    }

    @Test
    void reset_fillsOneKey_withAllLimitsOfAnyPlan() {
        LiveRules live = new LiveRules(
                Map.of("plans", (PlanResolver) request -> request.header("X-Plan")),
                "p.limit=2/hour",
                "p.plans.pro=4/hour; 5/day",
                "p.key=user");
        live.admitted(9, get("/").by("alice").with("X-Plan", "pro"));
        live.admitted(9, get("/").by("bob"));

        live.policies.reset("p", "alice");

        assertThat(live.admitted(9, get("/").by("alice").with("X-Plan", "pro"))).isEqualTo(4);
        assertThat(live.admits(get("/").by("bob"))).isFalse();
    }

    @Test
    void change_ofTheLimit_appliesAtOnce_andKeepsUsedPermitsInProportion() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user", "p.algorithm=fixed-window");
        live.admitted(50, get("/").by("alice"));

        live.policies.change("p", RateLimitChange.toLimit("10/hour"));

        assertThat(remaining(live.policies, "p", "alice")).containsExactly(5L);
        assertThat(live.admitted(100, get("/").by("alice"))).isEqualTo(5);
        live.policies.change("p", RateLimitChange.toLimit("1000/hour"));
        assertThat(live.admitted(100, get("/").by("alice"))).isZero();
        assertThat(live.policies.policy("p").limits().get(0).capacity()).isEqualTo(1000);
    }

    @Test
    void change_ofTheBurst_leavesTheLimit_andTheOtherWayRound() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.burst=50");

        live.policies.change("p", new RateLimitChange(null, 20L, null));
        assertThat(live.policies.policy("p").limits()).containsExactly(TokenBucket.of(Rate.parse("100/hour"), 20));
        live.policies.change("p", RateLimitChange.toLimit("200/hour"));
        assertThat(live.policies.policy("p").limits()).containsExactly(TokenBucket.of(Rate.parse("200/hour"), 20));
        live.policies.change("p", new RateLimitChange(null, 0L, null));
        assertThat(live.policies.policy("p").limits()).containsExactly(TokenBucket.of(Rate.parse("200/hour")));

        live.policies.restore("p");
        assertThat(live.policies.policy("p").limits()).containsExactly(TokenBucket.of(Rate.parse("100/hour"), 50));
    }

    @Test
    void change_ofTheLimitAlone_tellsOfABurstThatStays() {
        LiveRules live = new LiveRules("p.limit=600/minute", "p.burst=800");
        assertThat(live.report("p", null, false)).containsEntry("burst", 800L);

        assertThat(live.edit("p", RateLimitChange.toLimit("50/minute"), false, null, false))
                .containsEntry("from", "600/minute (token-bucket, burst 800), mode enforce")
                .containsEntry("to", "50/minute (token-bucket, burst 800), mode enforce")
                .containsEntry(
                        "remark",
                        "the burst is still 800, so a key with a full bucket is admitted 800 at once, and only then"
                                + " 50/minute; change it as well, to 0 for the permits of one period");
        assertThat(live.edit("p", RateLimitChange.toLimit("3000/minute"), false, null, false))
                .containsEntry(
                        "remark",
                        "the burst is still 800, so at most that many are admitted at once, although the limit is"
                                + " 3000/minute; change it as well, to 0 for the permits of one period");
        assertThat(live.edit("p", new RateLimitChange("50/minute", 0L, null), false, null, false))
                .containsEntry(
                        "remark",
                        "a key with a full budget is admitted 50 at once, before 800; what keys have used stays used, in"
                                + " proportion")
                .doesNotContainKey("burst");
        assertThat(live.edit("p", RateLimitChange.toMode(Mode.SHADOW), false, null, false))
                .doesNotContainKey("remark");
    }

    @Test
    void change_toTwoLimits_besideABurst_saysWhatToChangeAsWell() {
        LiveRules live = new LiveRules("p.limit=600/minute", "p.burst=800");

        assertThatThrownBy(() -> live.policies.change("p", RateLimitChange.toLimit("5/minute; 50/hour")))
                .hasMessageContaining("this one has 2; change the burst to 0 as well");
        live.policies.change("p", new RateLimitChange("5/minute; 50/hour", 0L, null));
        assertThat(live.policies.policy("p").limits()).hasSize(2);
    }

    @Test
    void change_isLoggedWithWhoAskedAndWhatWasBefore(CapturedOutput output) {
        LiveRules live = new LiveRules("p.limit=10/hour");
        live.identify(() -> "ops");
        List<Map<String, Object>> told = new ArrayList<>();
        live.observers.add((policy, what) -> told.add(what));

        live.edit("p", RateLimitChange.toLimit("5/hour"), false, null, false);
        live.policies.restore("p");

        assertThat(output)
                .contains("Rate limit 'p' was changed by 'ops' from 10/hour (token-bucket), mode enforce to 5/hour"
                        + " (token-bucket), mode enforce, until this instance restarts, which returns to the"
                        + " configuration")
                .contains("Rate limit 'p' was changed by 'ops' from 5/hour (token-bucket), mode enforce to 10/hour"
                        + " (token-bucket), mode enforce, as configured");
        assertThat(told.get(0))
                .containsEntry("change", "limit 5/hour")
                .containsEntry("from", "10/hour (token-bucket), mode enforce")
                .containsEntry("to", "5/hour (token-bucket), mode enforce");
        assertThat(told.get(1)).containsEntry("change", "as configured");
    }

    @Test
    void change_ofALimitThatIsWrittenAsAPlan_isThatOfCallersWithoutAPlan() {
        LiveRules live = new LiveRules(
                Map.of("plans", (PlanResolver) request -> request.header("X-Plan")),
                "p.plans.default=2/hour",
                "p.plans.pro=9/hour",
                "p.key=user");

        live.policies.change("p", new RateLimitChange(null, 3L, null));
        assertThat(live.admitted(9, get("/").by("alice"))).isEqualTo(3);
        live.policies.change("p", new RateLimitChange("5/hour", 0L, null));

        assertThat(live.admitted(9, get("/").by("bob"))).isEqualTo(5);
        assertThat(live.admitted(20, get("/").by("carol").with("X-Plan", "pro")))
                .isEqualTo(9);
        live.policies.restore("p");
        assertThat(live.admitted(9, get("/").by("dave"))).isEqualTo(2);
    }

    @Test
    void change_ofAConcurrencyLimitBesideARate_appliesToIt() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.concurrency=2");
        assertThat(live.admitted(9, get("/"))).isEqualTo(2);

        live.policies.change("p/concurrency", RateLimitChange.toLimit("5"));
        assertThat(live.admitted(9, get("/"))).isEqualTo(3);
        assertThat(live.policies.policy("p").limits().get(0).capacity()).isEqualTo(100);
        live.policies.change("p/concurrency", RateLimitChange.toMode(Mode.SHADOW));
        assertThat(live.admitted(9, get("/"))).isEqualTo(9);
        live.policies.change("p/concurrency", RateLimitChange.toMode(Mode.OFF));
        assertThat(live.admitted(9, get("/"))).isEqualTo(9);
        live.policies.restore("p/concurrency");
        assertThat(live.admits(get("/"))).isFalse();
        live.policies.change("p", RateLimitChange.toMode(Mode.SHADOW));
        assertThat(live.policies.mode("p/concurrency")).isEqualTo(Mode.SHADOW);
        assertThat(live.admits(get("/"))).isTrue();
        assertThatThrownBy(() -> live.policies.change("p/concurrency", new RateLimitChange(null, 7L, null)))
                .hasMessageStartingWith("ratelimit.policies.p/concurrency.burst: ");
    }

    @Test
    void policyWithTheNameOfAConcurrencyLimit_isAMistake() {
        assertThatThrownBy(() -> new LiveRules(
                        "p.limit=100/hour", "p.concurrency=2", "ratelimit.policies[p/concurrency].limit=1/hour"))
                .hasMessageContaining("also the name of the concurrency limit of policy 'p'");
    }

    @Test
    void change_ofTheMode_switchesThePolicyOffAndOn() {
        LiveRules live = new LiveRules("p.limit=1/hour");
        assertThat(live.admitted(5, get("/"))).isEqualTo(1);

        live.policies.change("p", RateLimitChange.toMode(Mode.OFF));
        assertThat(live.admitted(5, get("/"))).isEqualTo(5);
        assertThat(live.policies.mode("p")).isEqualTo(Mode.OFF);

        live.policies.change("p", RateLimitChange.toMode(Mode.SHADOW));
        assertThat(live.admitted(5, get("/"))).isEqualTo(5);

        live.policies.change("p", RateLimitChange.toMode(Mode.ENFORCE));
        assertThat(live.admitted(5, get("/"))).isZero();
    }

    @Test
    void change_ofAPolicyThatAnnotationsName_appliesThere() {
        LiveRules live = new LiveRules(Pages.class, "p.limit=10/hour", "p.match.annotated=true", "p.mode=off");
        assertThat(live.admitted(5, get("/search"))).isEqualTo(5);

        live.policies.change("p", RateLimitChange.toMode(Mode.ENFORCE));
        assertThat(live.admitted(5, get("/search"))).isEqualTo(2);

        live.policies.change("p", RateLimitChange.toLimit("40/hour"));
        live.ticker.advance(Duration.ofHours(1));
        assertThat(live.admitted(9, get("/search"))).isEqualTo(8);
    }

    @Test
    void change_ofAnAnnotation_appliesThere() {
        LiveRules live = new LiveRules(Pages.class, "p.limit=10/hour", "p.match.annotated=true");
        assertThat(live.admitted(9, get("/page").with("X-Id", "a"))).isEqualTo(3);

        live.policies.change("Pages.page", RateLimitChange.toLimit("30/hour"));
        assertThat(live.admitted(9, get("/page").with("X-Id", "b"))).isEqualTo(9);
        live.policies.change("Pages.page", RateLimitChange.toMode(Mode.OFF));
        assertThat(live.admitted(99, get("/page").with("X-Id", "a"))).isEqualTo(99);
        live.policies.restore("Pages.page");
        assertThat(live.admitted(9, get("/page").with("X-Id", "a"))).isZero();
    }

    @Test
    void change_thatIsWrong_isRefusedWhole_withTheMessageOfTheStart() {
        LiveRules live = new LiveRules(Pages.class, "p.limit=10/hour", "p.key=header:X-Id");

        assertThatThrownBy(() -> live.policies.change("p", new RateLimitChange("ten/hour", null, Mode.OFF)))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageStartingWith("ratelimit.policies.p.limit: ");
        assertThatThrownBy(() -> live.policies.change("p", new RateLimitChange("10/hour; 50/day", 5L, null)))
                .hasMessageStartingWith("ratelimit.policies.p.burst: burst needs a policy with a single limit");
        assertThatThrownBy(() -> live.policies.change("p", RateLimitChange.toLimit("4/hour")))
                .hasMessageStartingWith(
                        "@RateLimited on Pages.search(): permits must be from 0 to 4, the maximum that the limit admits");
        assertThatThrownBy(() -> live.policies.change("q", RateLimitChange.toLimit("4/hour")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("there is no policy 'q'");

        assertThat(live.policies.mode("p")).isEqualTo(Mode.ENFORCE);
        assertThat(live.policies.policy("p").limits()).containsExactly(TokenBucket.of(Rate.parse("10/hour")));
        assertThat(live.admitted(20, get("/").with("X-Id", "a"))).isEqualTo(10);
        // a change that is refused is not part of the next one
        live.policies.change("p", RateLimitChange.toLimit("11/hour"));
        assertThat(live.policies.mode("p")).isEqualTo(Mode.ENFORCE);
    }

    @Test
    void request_betweenItsStages_keepsTheRulesOfTheFirst() {
        LiveRules live = new LiveRules(
                "p.limit=1/hour",
                "p.key=ip",
                "ratelimit.policies.late.limit=1/hour",
                "ratelimit.policies.late.key=user");
        RequestLimiter before = live.limiter.beforeSecurity();
        RequestLimiter after = live.limiter.afterSecurity();
        ChargedRequest first = before.charge(null, get("/").by("alice"));
        ChargedRequest second = after.charge(before.charge(null, get("/").from("10.0.0.1")), get("/").by("alice"));

        assertThat(second.isRefused()).isFalse();
        live.policies.change("late", RateLimitChange.toMode(Mode.OFF));

        assertThat(after.charge(first, get("/").by("alice")).isRefused()).isTrue();
        assertThat(live.admits(get("/").from("10.0.0.2").by("alice"))).isTrue();
    }

    @Test
    void observerThatFails_concernsNeitherTheOperator_norOtherObservers_norEvents(CapturedOutput output) {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user", "ratelimit.policies.q.limit=100/hour");
        List<String> told = new ArrayList<>();
        List<Object> published = new ArrayList<>();
        live.observers.add((policy, what) -> {
            throw new IllegalStateException("the audit log is full");
        });
        live.observers.add((policy, what) -> told.add(policy));
        live.publishTo(new QueuedEvents(published::add, Runnable::run));

        live.policies.change("p", RateLimitChange.toLimit("5/hour").lasting(Duration.ofHours(1)));
        live.policies.change("q", RateLimitChange.toLimit("5/hour").lasting(Duration.ofHours(1)));
        live.policies.override("p", "alice", KeyOverride.blocked());
        live.policies.removeOverride("p", "alice");
        live.policies.startTrial("p", RateLimitTrial.of("1/hour"));
        live.policies.endTrial("p");
        live.policies.reset("p", "alice");
        live.ticker.advance(Duration.ofHours(1));

        assertThat(told).containsExactly("p", "q", "p", "p", "p", "p", "p", "p", "q");
        assertThat(published).hasSize(6);
        assertThat(live.policies.history(10)).hasSize(6);
        assertThat(output).contains("an observer, such as an audit log, has failed", "the audit log is full");
    }

    @Test
    void answerToAChange_showsKeys_toThoseWhoMaySeeThem() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user");
        live.policies.override("p", "alice", KeyOverride.blocked());
        RateLimitChange change = RateLimitChange.toLimit("5/hour");

        assertThat(live.preview("p", change, false, null, true).toString()).contains("key=alice");
        assertThat(live.preview("p", change, false, null, false).toString()).doesNotContain("alice");
        assertThat(live.edit("p", change, false, null, true).toString()).contains("key=alice");
        assertThat(live.edit("p", change, false, null, false).toString()).doesNotContain("alice");
    }
}
