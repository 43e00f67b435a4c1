package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** What all policies say of a caller. */
class CallerReportTest {

    private static final Caller ALICE = new Caller("alice", null, List.of(), null);

    /** Rules whose requests are counted. */
    private static final class Counted {

        private final LiveRules live;
        private final RequestLimiter limiter;

        Counted(Map<String, Object> beans, String... properties) {
            live = new LiveRules(beans, properties);
            OutcomeCounter traffic = live.traffic();
            limiter = new RequestLimiter(
                    live.rules,
                    LiveRules.bind(properties),
                    new WaitingRequests(live.rules, live.store, live.ticker, live.ticker),
                    traffic,
                    live.ticker,
                    null);
        }

        Counted(String... properties) {
            this(Map.of(), properties);
        }

        void send(int times, RecordedRequest request) throws IOException {
            for (int i = 0; i < times; i++) {
                ChargedRequest charged = limiter.charge(null, request);
                if (charged.isRefused()) {
                    charged.writeRefusal(new RecordedResponse());
                }
            }
        }

        Map<String, Object> report(Caller caller) {
            return live.caller(caller, true);
        }
    }

    private static Map<String, Object> map(@Nullable Object json) {
        assertThat(json).isInstanceOf(Map.class);
        @SuppressWarnings("unchecked")
        Map<String, Object> map = (Map<String, Object>) Objects.requireNonNull(json);
        return map;
    }

    private static Stream<Map<String, Object>> list(@Nullable Object json) {
        return ((List<?>) Objects.requireNonNull(json)).stream().map(CallerReportTest::map);
    }

    private static Map<String, Object> policy(Map<String, Object> report, String name) {
        return list(report.get("policies"))
                .filter(policy -> name.equals(policy.get("policy")))
                .findFirst()
                .orElseThrow();
    }

    private static List<Map<String, Object>> keys(Map<String, Object> report, String policy) {
        return list(policy(report, policy).get("keys")).toList();
    }

    private static Map<String, Object> key(Map<String, Object> report, String policy) {
        assertThat(keys(report, policy)).hasSize(1);
        return keys(report, policy).get(0);
    }

    private static Map<String, Object> other(Map<String, Object> report, String name) {
        return list(report.get("others"))
                .filter(policy -> name.equals(policy.get("policy")))
                .findFirst()
                .orElseThrow();
    }

    private static Caller at(String address) {
        return new Caller(null, address, List.of(), null);
    }

    private static Caller withHeader(String... lines) {
        return new Caller(null, null, List.of(lines), null);
    }

    @Test
    void caller_hasTheStateOfItsKey_asThePolicyHasIt() throws IOException {
        Counted app = new Counted("p.limit=2/hour", "p.key=user", "ratelimit.policies.q.limit=9/hour");
        app.send(3, get("/orders/1").by("alice"));
        app.live.ticker.advance(Duration.ofMinutes(2));
        app.send(2, get("/orders/1").by("alice"));

        Map<String, Object> report = app.report(ALICE);

        Map<String, Object> key = key(report, "p");
        Map<String, Object> state = app.live.report("p", List.of("alice"), true);
        assertThat(policy(report, "p")).containsEntry("limit", "2/hour").containsEntry("mode", "enforce");
        assertThat(key)
                .containsEntry("key", List.of("alice"))
                .containsEntry("admitted", false)
                .containsEntry("retryAfter", state.get("retryAfter"))
                .containsEntry("limits", state.get("limits"))
                .containsEntry("mostRefused", Map.of("refused", 3L))
                .doesNotContainKey("override");
        assertThat(other(report, "q")).containsEntry("remark", "all callers share its budget");
    }

    @Test
    void overrides_thatOperatorsHaveSet_areNamed() {
        Counted app = new Counted("p.limit=2/hour", "p.key=user", "p.overrides.alice=7/minute");

        app.live.policies.override("p", "alice", KeyOverride.blocked());
        app.live.policies.override("p", "bob", KeyOverride.to("9/minute"));

        assertThat(key(app.report(new Caller("alice", null, List.of(), null)), "p"))
                .containsEntry("override", "blocked")
                .containsEntry("admitted", false);
        assertThat(key(app.report(new Caller("bob", null, List.of(), null)), "p"))
                .containsEntry("override", "9/minute");
    }

    @Test
    void overrides_areNamed_alsoThoseOfNetworks() {
        Counted app = new Counted(
                "p.limit=2/hour",
                "p.key=user",
                "p.overrides.evil=blocked",
                "p.overrides.vip=unlimited",
                "p.overrides.big=7/minute",
                "ratelimit.policies.i.limit=2/hour",
                "ratelimit.policies.i.key=ip",
                "ratelimit.policies.i.overrides[10.0.0.0/8]=blocked",
                "ratelimit.exempt.keys=boss",
                "ratelimit.exempt.addresses=192.168.0.0/16");

        assertThat(key(app.report(new Caller("evil", null, List.of(), null)), "p"))
                .containsEntry("override", "blocked")
                .containsEntry("admitted", false);
        assertThat(key(app.report(new Caller("vip", null, List.of(), null)), "p"))
                .containsEntry("override", "unlimited")
                .containsEntry("admitted", true);
        assertThat(key(app.report(new Caller("big", null, List.of(), null)), "p"))
                .containsEntry("override", "7/minute");
        assertThat(key(app.report(new Caller("boss", null, List.of(), null)), "p"))
                .containsEntry("override", "exempt");
        assertThat(key(app.report(new Caller("alice", "10.1.2.3", List.of(), null)), "i"))
                .containsEntry("override", "blocked");
        assertThat(app.report(at("192.168.1.1")))
                .containsEntry("remark", "the address is exempt from all policies (ratelimit.exempt.addresses)");
    }

    @Test
    void plans_areEachTold_asOnlyARequestHasOne() {
        PlanResolver plans = request -> null;
        Counted app = new Counted(Map.of("plans", plans), "p.limit=2/hour", "p.key=user", "p.plans.pro=9/hour");

        Map<String, Object> key = key(app.report(ALICE), "p");

        assertThat(list(key.get("plans")).map(plan -> plan.get("plan"))).containsExactly("default", "pro");
        assertThat(key).doesNotContainKey("override");
    }

    @Test
    void address_isOfThoseWithoutAUser_too_andOfItsNetwork() throws IOException {
        Counted app = new Counted(
                "p.limit=1/hour",
                "p.key=ip",
                "ratelimit.policies.u.limit=1/hour",
                "ratelimit.policies.u.key=user",
                "ratelimit.policies.h.limit=1/hour",
                "ratelimit.policies.h.key=header:X-Id",
                "ratelimit.policies.h.missing-key=skip",
                "ratelimit.ipv4-prefix=24");
        app.send(2, get("/orders/1").from("203.0.113.7"));

        Map<String, Object> report = app.report(at("203.0.113.9"));

        assertThat(key(report, "p"))
                .containsEntry("key", List.of("203.0.113.0/24"))
                .containsEntry("admitted", false);
        assertThat(key(report, "u"))
                .containsEntry("key", List.of("ip:203.0.113.0/24"))
                .containsEntry("remark", "of a request from this address without user");
        assertThat(other(report, "h")).containsEntry("remark", "nothing is said of header:x-id; add header=x-id:a");
    }

    @Test
    void headersAndCookies_areReadAsOfARequest() throws IOException {
        Counted app = new Counted(
                "p.limit=1/hour",
                "p.key=header:X-Api-Key",
                "p.missing-key=skip",
                "ratelimit.policies.c.limit=1/hour",
                "ratelimit.policies.c.key=cookie:sid",
                "ratelimit.policies.c.missing-key=skip");
        app.send(2, get("/orders/1").with("X-Api-Key", "a:b"));
        app.send(2, get("/orders/1").withCookie("sid", "s=1"));

        assertThat(key(app.report(withHeader("x-api-key:  a:b ")), "p")).containsEntry("admitted", false);
        assertThat(key(app.report(withHeader("Cookie: theme=dark; sid=s=1")), "c"))
                .containsEntry("admitted", false);
        assertThat(list(app.report(withHeader("X-Api-Key: a", "X-Api-Key: b")).get("policies")))
                .isEmpty();
        assertThat(list(app.report(withHeader("Cookie: asid=1")).get("policies")))
                .isEmpty();
    }

    @Test
    void key_isThatOfWhatNoRequestFactTells() throws IOException {
        KeyResolver tenant = request -> request.header("X-Tenant");
        Counted app = new Counted(
                Map.of("tenant", tenant),
                "p.limit=1/hour",
                "p.key=bean:tenant",
                "ratelimit.policies.u.limit=1/hour",
                "ratelimit.policies.u.key=user",
                "ratelimit.policies.e.limit=1/hour",
                "ratelimit.policies.e.key=endpoint");
        app.send(2, get("/orders/1").with("X-Tenant", "acme").by("bob"));

        Map<String, Object> report = app.report(new Caller("bob", null, List.of(), "acme"));

        assertThat(key(report, "p")).containsEntry("key", List.of("acme")).containsEntry("admitted", false);
        assertThat(key(report, "u")).containsEntry("key", List.of("bob")).containsEntry("admitted", false);
        assertThat(other(report, "e")).containsEntry("remark", "all callers share its budgets");
        assertThat(other(app.report(ALICE), "p")).containsEntry("remark", "nothing is said of bean:tenant; add key=a");
    }

    @Test
    void keyOfSeveralParts_isFoundAmongTheRefusedOnes() throws IOException {
        Counted app = new Counted("p.limit=2/hour", "p.key=user, method, ip");
        app.send(3, get("/orders/1").by("alice").from("10.0.0.1"));
        app.send(4, new RecordedRequest("POST", "/orders/1").by("alice").from("10.0.0.2"));
        app.send(3, get("/orders/1").by("alice2").from("10.0.0.1"));

        Map<String, Object> report = app.report(ALICE);

        assertThat(keys(report, "p").stream().map(key -> key.get("key")))
                .containsExactly(List.of("alice", "POST", "10.0.0.2"), List.of("alice", "GET", "10.0.0.1"));
        assertThat(keys(report, "p").get(0)).containsEntry("mostRefused", Map.of("refused", 2L));
        assertThat(policy(report, "p"))
                .containsEntry(
                        "remark", "only the most refused keys are known, because the question does not say method, ip");
        assertThat(keys(app.report(new Caller("alice", "10.0.0.1", List.of(), null)), "p"))
                .hasSize(1);
        assertThat(policy(app.report(new Caller("carol", null, List.of(), null)), "p"))
                .containsEntry("keys", List.of())
                .containsEntry(
                        "remark", "only the most refused keys are known, because the question does not say method, ip");
    }

    @Test
    void rememberedKey_hasTheOverrideOfItsAddress() throws IOException {
        Counted app = new Counted("p.limit=1/hour", "p.key=ip, endpoint", "p.overrides[10.0.0.0/8]=blocked");
        app.send(1, get("/orders/1").from("10.1.2.3"));

        assertThat(key(app.report(at("10.1.2.3")), "p")).containsEntry("override", "blocked");
    }

    @Test
    void keysOfSeveralParts_thatAreTooLongToBeRead_areCounted() throws IOException {
        Counted app = new Counted("p.limit=1/hour", "p.key=user, header:X-Id");
        app.send(2, get("/orders/1").by("alice").with("X-Id", "a"));
        app.send(2, get("/orders/1").by("alice").with("X-Id", "x".repeat(70)));

        Map<String, Object> report = app.report(ALICE);

        assertThat(key(report, "p")).containsEntry("key", List.of("alice", "a"));
        assertThat(policy(report, "p").get("remark")).asString().endsWith("; 1 of them is too long to be read");
    }

    @Test
    void longKeyOfOnePart_isFound() throws IOException {
        Counted app = new Counted("p.limit=1/hour", "p.key=user");
        String name = "x".repeat(100);
        app.send(3, get("/orders/1").by(name));

        Map<String, Object> key = key(app.report(new Caller(name, null, List.of(), null)), "p");

        assertThat(key).containsEntry("admitted", false).containsEntry("mostRefused", Map.of("refused", 2L));
        assertThat(key.get("key")).asString().startsWith("#");
    }

    @Test
    void keys_areHashed_unlessTheyAreShown() throws IOException {
        Counted app = new Counted("p.limit=1/hour", "p.key=user, method");
        app.send(3, get("/orders/1").by("alice"));

        assertThat(app.live.caller(ALICE, false).toString()).doesNotContain("alice");
        assertThat(app.live.caller(ALICE, true).toString()).contains("alice");
    }

    @Test
    void question_takesNothing_andChangesNothing() throws IOException {
        Counted app = new Counted("p.limit=2/hour", "p.key=user");
        app.send(3, get("/orders/1").by("alice"));
        Map<String, Object> first = app.report(ALICE);

        for (int i = 0; i < 5; i++) {
            assertThat(app.report(ALICE)).isEqualTo(first);
        }
    }

    @Test
    void storeThatDoesNotAnswer_leavesOtherPolicies() throws IOException {
        Counted app = new Counted(
                "p.limit=1/hour", "p.key=user", "ratelimit.policies.q.limit=9/hour", "ratelimit.policies.q.key=user");
        app.send(3, get("/orders/1").by("alice"));
        RateLimitStore failing = new ForwardingStore(app.live.store) {
            @Override
            public Decision peek(List<Charge> charges) {
                if (charges.get(0).policy().name().equals("p")) {
                    throw new StoreUnavailableException("p", Duration.ofSeconds(1), "no answer");
                }
                return super.peek(charges);
            }
        };

        Map<String, Object> report = new CallerReport(
                        app.live.rules.inForce(),
                        failing,
                        app.live.traffic(),
                        app.live.keys,
                        app.live.overrideReport,
                        true)
                .of(ALICE);

        assertThat(key(report, "p")).containsKey("error").doesNotContainKeys("admitted", "limits");
        assertThat(key(report, "q")).containsEntry("admitted", true);
    }

    @Test
    void keysOfAnEarlierConfiguration_withOtherParts_areNotTakenForTheCallers() throws IOException {
        Counted app = new Counted("p.limit=1/hour", "p.key=user, method");
        app.send(2, get("/orders/1").by("alice"));
        assertThat(keys(app.report(ALICE), "p")).hasSize(1);
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test",
                        Map.of(
                                "ratelimit.policies.p.limit",
                                "1/hour",
                                "ratelimit.policies.p.key",
                                "user, method, ip")));

        assertThat(app.live.configuration.refresh(environment)).isTrue();

        assertThat(keys(app.report(ALICE), "p")).isEmpty();
        assertThat(keys(app.report(new Caller("alice", "127.0.0.1", List.of(), null)), "p"))
                .isEmpty();
    }

    @Test
    void caller_isWhollyUnknown_orWrong_isRefused() {
        assertThatThrownBy(() -> new Caller(null, null, List.of(), null))
                .hasMessageStartingWith("caller needs to know who calls; write caller?user=alice");
        assertThatThrownBy(() -> at("300.1.1.1"))
                .hasMessage("'300.1.1.1' is not an address; write 10.0.0.7 or 2001:db8::1");
        assertThatThrownBy(() -> withHeader("X-Id"))
                .hasMessage("a header needs a name and a value, but was 'X-Id'; write X-Api-Key: a");
        assertThatThrownBy(() -> new Caller(" ", null, List.of(), null))
                .hasMessage("user must not be blank; write a value, or leave it out");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ip:8.8.8.8", "ip:zz", "-", "\\ip:8.8.8.8", "\\"})
    void value_thatLooksLikeSomethingElse_isFoundAndReset(String value) throws IOException {
        Counted app = new Counted("p.limit=2/hour", "p.key=header:X-A");
        app.send(3, get("/orders/1").with("X-A", value));

        Caller caller = new Caller(null, null, List.of("X-A: " + value), null);
        Map<String, Object> found = key(app.report(caller), "p");
        String plain = String.valueOf(((List<?>) Objects.requireNonNull(found.get("key"))).get(0));
        assertThat(plain).isEqualTo("\\" + value);
        assertThat(found).containsEntry("mostRefused", Map.of("refused", 1L));
        assertThat(app.live.policies.state("p", plain).get(0).remaining()).isZero();
        assertThat(String.valueOf(app.live.report("p", null, true).get("mostRefused")))
                .contains("[" + plain + "]");

        app.live.policies.reset("p", plain);

        assertThat(app.live.policies.state("p", plain).get(0).remaining()).isEqualTo(2);
    }

    @Test
    void headerTwice_isSaidToBeNone() {
        Counted app = new Counted("p.limit=2/hour", "p.key=header:X-A");

        Map<String, Object> report = app.report(new Caller(null, null, List.of("X-A: a", "X-A: b"), null));

        assertThat(String.valueOf(report.get("others")))
                .contains("a request with several values of header:x-a has none; write one");
    }
}
