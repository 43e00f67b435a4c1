package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitOverrideEvent;
import dev.ratelimit.spring.RateLimitOverrideEvent.Action;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangedValue;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Overrides of single keys that operators set while requests are charged. */
@ExtendWith(OutputCaptureExtension.class)
class KeyOverridesTest {

    private static final Duration HOUR = Duration.ofHours(1);

    static final class Pages {

        @RateLimited(value = "3/hour", key = "header:X-Id", permits = 2)
        void page() {}
    }

    private static RecordedRequest by(String user) {
        return get("/orders/1").by(user);
    }

    private static RecordedRequest from(String address) {
        return get("/orders/1").from(address);
    }

    private static long remaining(LiveRules live, String... key) {
        List<LimitStatus> state = live.policies.state("p", key);
        return state.get(0).remaining();
    }

    private static Instant now(LiveRules live) {
        return Instant.EPOCH.plusNanos(live.ticker.epochNanos());
    }

    /** So many blocked users, for a second. */
    private static ChangeStore.Contents blocks(LiveRules live, int users) {
        long now = live.changes.nowMicros();
        String text = ChangedValue.text(
                Map.of("override", new ChangedValue("blocked", now, now + 1_000_000, "admin", null, "").json()));
        Map<String, String> texts = new HashMap<>();
        for (int i = 0; i < users; i++) {
            texts.put(ChangeStore.Name.ofKey("p", "u" + i).text(), text);
        }
        return new ChangeStore.Contents(
                Map.of(ChangeStore.Kind.POLICY, Map.of(), ChangeStore.Kind.OVERRIDE, texts), List.of());
    }

    @Test
    void endsOfReplacedOverrides_areForgotten() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");
        int before = live.ticker.alarms();
        for (int i = 0; i < 3; i++) {
            live.policies.override("p", "alice", KeyOverride.blocked().lasting(HOUR.plusMinutes(i)));
        }

        live.policies.override("p", "alice", KeyOverride.blocked());

        assertThat(live.ticker.alarms()).isEqualTo(before);
        live.ticker.advance(HOUR.multipliedBy(2));
        assertThat(live.policies.overrides("p")).hasSize(1);
    }

    @Test
    void override_whoseAttemptsTakeTooLong_isRefused() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user");
        List<String> questions = new ArrayList<>();
        live.changes.share((change, known) -> {
            questions.add(change.name().key());
            live.ticker.advance(Duration.ofSeconds(1));
            return null;
        });

        assertThatThrownBy(() -> live.policies.override("p", "alice", KeyOverride.blocked()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("took too long");

        assertThat(questions).hasSize(2);
    }

    @Test
    void block_appliesToItsKeyAlone_untilItsEnd_toTheNanosecond() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user");

        live.policies.override("p", "alice", KeyOverride.blocked().lasting(HOUR));

        assertThat(live.admitted(1, by("alice"))).isZero();
        assertThat(live.admitted(1, by("bob"))).isOne();
        live.ticker.advanceNanos(HOUR.toNanos() - 1);
        assertThat(live.admitted(1, by("alice"))).isZero();
        live.ticker.advanceNanos(1);
        assertThat(live.admitted(1, by("alice"))).isOne();
        assertThat(live.policies.overrides("p")).isEmpty();
    }

    private static RecordedResponse refusal(LiveRules live, RecordedRequest request) throws IOException {
        ChargedRequest charged = live.limiter.charge(null, request);
        assertThat(charged.isRefused()).isTrue();
        RecordedResponse response = new RecordedResponse();
        charged.writeRefusal(response);
        return response;
    }

    @Test
    void block_withAnEnd_saysWhenToRetry() throws IOException {
        LiveRules live = new LiveRules(
                "p.limit=100/hour",
                "p.key=user",
                "p.retry-jitter.max=0s",
                "p.retry-jitter.min=0s",
                "ratelimit.policies.all.limit=100/hour",
                "ratelimit.policies.all.key=user");
        live.policies.override("p", "alice", KeyOverride.blocked().lasting(HOUR));
        live.ticker.advance(Duration.ofMinutes(50).plusMillis(1));

        RecordedResponse ends = refusal(live, by("alice"));
        assertThat(ends.header("Retry-After")).isEqualTo("600");
        assertThat(ends.body()).contains("\"detail\":\"Limit 'p' blocks this request. Retry after 600 seconds.\"");

        live.policies.override("all", "alice", KeyOverride.blocked());
        RecordedResponse endless = refusal(live, by("alice"));
        assertThat(endless.header("Retry-After")).isNull();
        assertThat(endless.body()).contains("can never admit this request");
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            delimiter = '|',
            value = {
                "10.0.0.7=PT10M, 10.0.0.0/24=PT1H | 3600",
                "10.0.0.7=PT1H, 10.0.0.0/24=PT10M | 3600",
                "10.0.0.0/24=PT10M, 10.0.0.0/16=PT1H | 3600",
                "10.0.0.7=PT10M, 10.0.0.0/24=PT20M, 10.0.0.0/16=PT1H | 3600",
                "10.0.0.7=PT10M, 10.0.0.0/24=PT1H, 10.0.0.0/16=PT20M | 3600",
                "10.0.0.7=PT10M, 10.0.0.0/16= | none",
                "10.0.0.7=PT10M, 10.0.0.0/24=5/hour, 10.0.0.0/16=PT1H | 600",
                "10.0.0.7=PT10M, 10.1.0.0/24=PT1H | 600",
                "10.0.0.9=PT10M | none",
            })
    void refusal_byABlockWithinAnother_tellsWhenTheCallerIsAdmittedAgain(String blocks, String wait)
            throws IOException {
        LiveRules live = new LiveRules(
                "p.limit=100/hour",
                "p.key=ip",
                "p.overrides[10.0.0.9]=blocked",
                "p.retry-jitter.max=0s",
                "p.retry-jitter.min=0s");
        for (String block : blocks.split(", ", -1)) {
            String[] parts = block.split("=", 2);
            live.policies.override("p", parts[0], overrideOf(parts[1]));
        }

        String address = blocks.substring(0, blocks.indexOf('='));
        RecordedResponse refusal = refusal(live, from(address.contains("/") ? "10.0.0.7" : address));

        assertThat(refusal.header("Retry-After")).isEqualTo(wait);
    }

    @ParameterizedTest
    @CsvSource({"PT10M, PT1H", "PT1H, PT10M"})
    void refusal_byBlocksOfTwoPolicies_tellsWhenTheLastOneEnds(Duration one, Duration other) throws IOException {
        LiveRules live = new LiveRules(
                "p.limit=100/hour",
                "p.key=user",
                "p.retry-jitter.max=0s",
                "p.retry-jitter.min=0s",
                "ratelimit.policies.all.limit=100/hour",
                "ratelimit.policies.all.key=user");
        live.policies.override("p", "alice", KeyOverride.blocked().lasting(one));
        live.policies.override("all", "alice", KeyOverride.blocked().lasting(other));

        assertThat(refusal(live, by("alice")).header("Retry-After")).isEqualTo("3600");
    }

    private static KeyOverride overrideOf(String text) {
        if (text.contains("/")) {
            return KeyOverride.to(text);
        }
        return text.isEmpty() ? KeyOverride.blocked() : KeyOverride.blocked().lasting(Duration.parse(text));
    }

    @Test
    void end_atAMoment_isExact_alsoIfItIsNoWholeMicrosecond() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user");
        Instant end = now(live).plusNanos(5_000_001);

        live.policies.override("p", "alice", KeyOverride.blocked().until(end));

        assertThat(live.policies.overrides("p").get(0).until()).isBetween(end, end.plusNanos(999));
        live.ticker.advanceNanos(5_000_001);
        assertThat(live.admits(by("alice"))).isFalse();
        live.ticker.advanceNanos(999);
        assertThat(live.admits(by("alice"))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"user, ip:192.0.2.7", "'user, endpoint', ip:192.0.2.7", "header:X-Id, ip:192.0.2.7", "ip, ip:192.0.2.7"
    })
    void override_ofACallerWithoutAName_isThatOfItsAddress_asTheStateShowsIt(String key, String shown) {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=" + key);

        live.policies.override("p", " " + shown + " ", KeyOverride.blocked());

        assertThat(live.admits(from("192.0.2.7"))).isFalse();
        assertThat(live.admits(from("192.0.2.8"))).isTrue();
        assertThat(live.admits(from("192.0.2.7").by("alice").with("X-Id", "alice")))
                .isEqualTo(!key.equals("ip"));
        assertThat(live.policies.overrides("p"))
                .extracting(OverriddenKey::key)
                .containsExactly(key.equals("ip") ? "192.0.2.7" : shown);
        assertThat(live.policies.removeOverride("p", shown)).isTrue();
        assertThat(live.admits(from("192.0.2.7"))).isTrue();
    }

    @Test
    void override_ofAllWithoutAValue_isThatOfTheirBudget() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=header:X-Id", "p.missing-key=shared");

        live.policies.override("p", "-", KeyOverride.blocked());

        assertThat(live.admits(from("192.0.2.7"))).isFalse();
        assertThat(live.admits(from("192.0.2.7").with("X-Id", "-"))).isTrue();
        live.policies.override("p", "\\-", KeyOverride.blocked());
        assertThat(live.admits(from("192.0.2.7").with("X-Id", "-"))).isFalse();
        assertThat(live.policies.overrides("p")).extracting(OverriddenKey::key).containsExactlyInAnyOrder("-", "\\-");
    }

    @ParameterizedTest
    @CsvSource({
        "user, ip, 192.0.2.7, write ip:192.0.2.7",
        "user, ip, ip:192.0.2.0/24, write the address of one caller",
        "user, ip, -, no key of a policy by user",
        "header:X-Id, shared, ip:192.0.2.7, no key of a policy by header:x-id",
        "header:X-Id, ip, -, no key of a policy by header:x-id",
        "header:X-Id, reject, ip:192.0.2.7, no key of a policy by header:x-id"
    })
    void override_thatCouldNotApplyToAnybody_isRefused(String key, String missing, String written, String message) {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=" + key, "p.missing-key=" + missing);

        assertThatThrownBy(() -> live.policies.override("p", written, KeyOverride.blocked()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void user_whoseNameIsAnAddress_isWrittenWithABackslash() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");

        live.policies.override("p", "\\192.0.2.7", KeyOverride.blocked());

        assertThat(live.admits(by("192.0.2.7"))).isFalse();
        assertThat(live.admits(from("192.0.2.7"))).isTrue();
        assertThatThrownBy(() -> live.policies.reset("p", "192.0.2.7")).hasMessageContaining("write ip:192.0.2.7");
        assertThat(live.policies.overrides("p").get(0).key()).isEqualTo("\\192.0.2.7");
    }

    @Test
    void block_withoutAnEnd_lastsUntilItIsRemoved_inWhateverSpelling() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user", "ratelimit.ignore-case=true");

        live.policies.override("p", " Alice ", KeyOverride.blocked());

        live.ticker.advance(Duration.ofDays(400));
        assertThat(live.admits(by("alice"))).isFalse();
        assertThat(live.policies.overrides("p")).extracting(OverriddenKey::key).containsExactly("alice");
        assertThat(live.policies.removeOverride("p", "ALICE")).isTrue();
        assertThat(live.admits(by("alice"))).isTrue();
        assertThat(live.policies.removeOverride("p", "alice")).isFalse();
    }

    @Test
    void allow_liftsTheLimit_andChargesNothing() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");
        assertThat(live.admitted(20, by("alice"))).isEqualTo(10);

        live.policies.override("p", "alice", KeyOverride.unlimited().lasting(Duration.ofMillis(1)));

        assertThat(live.admitted(20, by("alice"))).isEqualTo(20);
        live.ticker.advance(Duration.ofMillis(1));
        assertThat(live.admitted(20, by("alice"))).isZero();
    }

    @Test
    void raise_keepsWhatTheKeyHasUsed_inProportion_atItsBeginningAndItsEnd() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");
        assertThat(live.admitted(5, by("alice"))).isEqualTo(5);

        live.policies.override("p", "alice", KeyOverride.to("1000/hour").lasting(Duration.ofSeconds(1)));

        assertThat(remaining(live, "alice")).isEqualTo(500);
        assertThat(live.admitted(1000, by("alice"))).isEqualTo(500);
        assertThat(live.admitted(20, by("bob"))).isEqualTo(10);
        live.ticker.advance(Duration.ofSeconds(1));
        assertThat(live.admitted(10, by("alice"))).isZero();
        live.ticker.advance(Duration.ofMinutes(6));
        assertThat(live.admitted(10, by("alice"))).isOne();
    }

    @Test
    void override_again_replacesIt_overAndOver_withoutAFreshBudget() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");
        int admitted = live.admitted(20, by("alice"));

        for (int i = 0; i < 50; i++) {
            live.policies.override("p", "alice", KeyOverride.to(i % 2 == 0 ? "20/hour" : "10/hour"));
            admitted += live.admitted(20, by("alice"));
            live.policies.removeOverride("p", "alice");
            admitted += live.admitted(20, by("alice"));
        }

        assertThat(admitted).isEqualTo(10);
    }

    @Test
    void range_blocksItsAddresses_theNarrowestThatIsInForceApplies() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=ip");
        live.policies.override("p", "203.0.113.7/24", KeyOverride.blocked().lasting(HOUR));
        live.policies.override("p", "203.0.113.8", KeyOverride.to("2/hour").lasting(Duration.ofMinutes(1)));
        live.policies.override("p", "2001:db8::/32", KeyOverride.blocked());

        assertThat(live.admits(from("203.0.113.9"))).isFalse();
        assertThat(live.admits(from("::ffff:203.0.113.9"))).isFalse();
        assertThat(live.admits(from("203.0.114.9"))).isTrue();
        assertThat(live.admits(from("2001:db8:7::1"))).isFalse();
        assertThat(live.admits(from("2001:db9::1"))).isTrue();
        assertThat(live.admitted(5, from("203.0.113.8"))).isEqualTo(2);
        live.ticker.advance(Duration.ofMinutes(1));
        assertThat(live.admitted(5, from("203.0.113.8"))).isZero();
        assertThat(live.policies.overrides("p"))
                .extracting(OverriddenKey::key)
                .containsExactly("2001:db8::/32", "203.0.113.0/24");
        assertThat(live.policies.removeOverride("p", "203.0.113.99/24")).isTrue();
        assertThat(live.admits(from("203.0.113.9"))).isTrue();
    }

    @Test
    void privilege_ofAProxysAddress_isNotGranted_butABlockIs() {
        LiveRules live = new LiveRules("p.limit=1/hour", "p.key=ip", "ratelimit.trusted-proxies=10.0.0.0/8");
        live.policies.override("p", "10.0.0.0/8", KeyOverride.unlimited());

        assertThat(live.admitted(3, from("10.0.0.1"))).isOne();
        live.policies.override("p", "10.0.0.0/8", KeyOverride.blocked());
        assertThat(live.admitted(3, from("10.0.0.2"))).isZero();
    }

    @Test
    void keyOfSeveralParts_goesByTheOneThatIdentifiesTheCaller() {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=header:X-Id, endpoint, method");
        live.policies.override("p", "a", KeyOverride.to("5/hour"));
        live.policies.override("p", "b", KeyOverride.blocked());

        assertThat(live.admitted(9, get("/orders/1").with("X-Id", "a"))).isEqualTo(5);
        assertThat(live.admitted(9, get("/orders/1").with("X-Id", "b"))).isZero();
        assertThat(live.admitted(9, get("/orders/1").with("X-Id", "c"))).isEqualTo(3);
        assertThat(live.admitted(9, get("/orders/1"))).isEqualTo(3);
        assertThat(live.policies.state("p", "b", "GET /orders/{id}", "GET")).isEmpty();
        assertThat(remaining(live, "a", "GET /orders/{id}", "GET")).isZero();
    }

    @Test
    void longKey_isFound_asItIsHashed() {
        String name = "n".repeat(200);
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user");

        live.policies.override("p", name, KeyOverride.blocked());

        assertThat(live.admits(by(name))).isFalse();
        assertThat(live.policies.removeOverride("p", name)).isTrue();
        assertThat(live.admits(by(name))).isTrue();
    }

    @Test
    void override_comesBeforeThatOfTheConfiguration_andThePlan() {
        LiveRules live = new LiveRules(
                Map.of("plans", (PlanResolver) request -> "gold"),
                "p.limit=3/hour",
                "p.key=user",
                "p.plans.gold=unlimited",
                "p.overrides.alice=unlimited",
                "p.overrides.mallory=blocked");

        live.policies.override("p", "alice", KeyOverride.blocked());
        live.policies.override("p", "bob", KeyOverride.to("1/hour"));
        live.policies.override("p", "mallory", KeyOverride.unlimited().lasting(HOUR));

        assertThat(live.admitted(2, by("alice"))).isZero();
        assertThat(live.admitted(2, by("bob"))).isOne();
        assertThat(live.admitted(2, by("mallory"))).isEqualTo(2);
        assertThat(live.admitted(9, by("carol"))).isEqualTo(9);
        live.ticker.advance(HOUR);
        assertThat(live.admitted(2, by("mallory"))).isZero();
    }

    @Test
    void block_blocksBothHalvesOfAPolicy_andALimitOnlyItsOwn() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.concurrency=1", "p.key=user");
        live.policies.override("p", "alice", KeyOverride.unlimited());
        live.policies.override("p/concurrency", "bob", KeyOverride.to("3"));

        assertThat(live.policies.state("p/concurrency", "alice")).isEmpty();
        assertThat(live.admitted(9, by("alice"))).isEqualTo(9);
        assertThat(live.admitted(9, by("bob"))).isEqualTo(3);
        assertThat(live.admitted(9, by("carol"))).isOne();
    }

    @Test
    void override_ofAnAnnotationsPolicy_isPossible_andMustAdmitItsCost() {
        LiveRules live = new LiveRules(Pages.class);
        live.policies.override("Pages.page", "a", KeyOverride.to("6/hour"));
        live.policies.override("Pages.page", "b", KeyOverride.blocked());

        assertThat(live.admitted(9, get("/page").with("X-Id", "a"))).isEqualTo(3);
        assertThat(live.admitted(9, get("/page").with("X-Id", "b"))).isZero();
        assertThatThrownBy(() -> live.policies.override("Pages.page", "a", KeyOverride.to("1/hour")))
                .hasMessageContaining("may cost 2 permits, but this limit admits at most 1");
    }

    @Test
    void overrides_stay_whenThePolicyIsChanged_orRefreshed() {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user");
        live.policies.override("p", "alice", KeyOverride.blocked());

        live.policies.change("p", RateLimitChange.toLimit("5/hour"));
        assertThat(live.admits(by("alice"))).isFalse();
        live.policies.restore("p");
        live.policies.change("p", RateLimitChange.toMode(Mode.SHADOW));

        assertThat(live.admits(by("alice"))).isTrue();
    }

    @Test
    void override_thatDoesNotFitARefreshedPolicy_isLeftOut_saidOnce_andComesBack(CapturedOutput output) {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user");
        live.policies.override("p", "alice", KeyOverride.blocked());
        Map<String, PolicyProperties> before = live.rules.policies();

        live.rules
                .read(LiveRules.bind("p.limit=3/hour").policies(), Map.of())
                .enforce()
                .run();
        assertThat(live.admits(by("alice"))).isTrue();
        live.policies.change("p", RateLimitChange.toLimit("4/hour"));
        live.rules.read(before, Map.of()).enforce().run();

        assertThat(live.admits(by("alice"))).isFalse();
        assertThat(output.toString().split("1 of the overrides of keys under rate limit 'p' do not apply", -1))
                .hasSize(2);
    }

    @Test
    void overrides_tellWhoAndWhy_inTheReport_theLog_andToObservers(CapturedOutput output) {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user");
        live.identify(() -> "admin");
        StringBuilder told = new StringBuilder();
        live.observers.add((policy, what) -> told.append(policy).append(what));

        live.policies.override("p", "alice", KeyOverride.blocked().lasting(HOUR).because("flood\n"));

        assertThat(live.policies.overrides("p"))
                .containsExactly(
                        new OverriddenKey("alice", "blocked", now(live).plus(HOUR), "flood\n", "admin", now(live)));
        assertThat(String.valueOf(live.report("p", null, true).get("overrides")))
                .startsWith("[{key=alice, limit=blocked, until=" + now(live).plus(HOUR) + ", reason=flood\n, by=admin,"
                        + " since=" + now(live) + ", version=");
        assertThat(String.valueOf(live.report("p", null, false).get("overrides")))
                .startsWith("[{key=#");
        assertThat(output)
                .containsPattern("Rate limit 'p': key #[0-9a-f]{12} was overridden by 'admin': blocked, until")
                .contains("because of 'flood\\u000a'");
        assertThat(told).contains("p{key=#").contains("override=blocked");
        live.policies.removeOverride("p", "alice");
        assertThat(told).contains("removedOverride=blocked");
        assertThat(output).contains("was removed by 'admin'; it was blocked");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            user       | alice       | 50          | has no period; write 50/second
            user       | alice       | block       | 'block' is not a limit
            user       | ` `         | blocked     | is blank; write a value
            ip         | here        | blocked     | 'here' is not an address; write 10.0.0.7, 10.0.0.0/8
            ip         | 10.0.0.0/33 | blocked     | must have a prefix from 0 to 32
            user, ip   | alice       | blocked     | exactly one part besides endpoint, route and method, but the key is by user, ip
            endpoint   | GET /       | blocked     | exactly one part besides endpoint, route and method
            """)
    void override_thatCannotBe_isRefused_asAtTheStart(String key, String value, String limit, String message) {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=" + key);

        assertThatThrownBy(() -> live.policies.override("p", value, KeyOverride.to(limit)))
                .isInstanceOfAny(IllegalArgumentException.class, RateLimitConfigurationException.class)
                .hasMessageContaining(message);
        assertThat(live.policies.overrides("p")).isEmpty();
    }

    @Test
    void override_ofAnUnknownPolicy_withAnImpossibleEnd_orTooLong_isRefused() {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user");
        KeyOverride blocked = KeyOverride.blocked();

        assertThatThrownBy(() -> live.policies.override("q", "a", blocked)).hasMessageContaining("no policy 'q'");
        assertThatThrownBy(() -> live.policies.override("p", "a", blocked.until(now(live))))
                .hasMessageContaining("until must be after now")
                .hasMessageContaining("to end an override, remove it");
        assertThatThrownBy(() -> live.policies.override("p", "a", blocked.lasting(Duration.ZERO)))
                .hasMessageContaining("duration must be longer than 0");
        assertThatThrownBy(() -> live.policies.override("p", "a", blocked.lasting(Duration.ofSeconds(Long.MAX_VALUE))))
                .hasMessageContaining("at most 366 days");
        assertThatThrownBy(() -> live.policies.override("p", "a", blocked.until(Instant.MAX)))
                .hasMessageContaining("at most 366 days later")
                .hasMessageContaining("without an end, it lasts as long as a change");
        assertThatThrownBy(() -> live.policies.override("p", "a".repeat(257), blocked))
                .hasMessage("key must have at most 256 characters but has 257");
        assertThatThrownBy(() -> live.policies.override("p", "a", blocked.because("b".repeat(201))))
                .hasMessage("reason must have at most 200 characters but has 201");
        live.policies.override("p", "a", blocked.lasting(Duration.ofDays(366)));
        assertThat(live.policies.overrides("p")).hasSize(1);
    }

    @Test
    void overrides_areBounded_andEndedOnesMakeRoom() {
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user");
        live.changes.adopt(blocks(live, 10_000), 0);
        assertThat(live.admits(by("u9999"))).isFalse();

        assertThatThrownBy(() -> live.policies.override("p", "a", KeyOverride.blocked()))
                .hasMessageContaining("there are 10000 overrides already, and at most 10000 are possible");
        live.policies.override("p", "u1", KeyOverride.unlimited());
        live.policies.removeOverride("p", "u2");
        live.policies.override("p", "a", KeyOverride.blocked());
        live.ticker.advance(Duration.ofSeconds(1));
        live.policies.override("p", "b", KeyOverride.blocked());
        assertThat(live.policies.overrides("p")).extracting(OverriddenKey::key).containsExactly("a", "b", "u1");
        assertThat(live.overrides.count("p")).isEqualTo(3);
    }

    @Test
    void overrides_areEvents_whenTheyAreSet_removed_andHaveEnded() {
        List<Object> heard = new ArrayList<>();
        LiveRules live = LiveRules.showingKeys("p.limit=3/hour", "p.key=user");
        live.identify(() -> "ops");
        live.publishTo(new QueuedEvents(heard::add, Runnable::run));

        live.policies.override("p", "alice", KeyOverride.blocked().lasting(HOUR).because("flood"));
        live.policies.override("p", "bob", KeyOverride.to("9/hour").lasting(HOUR.plusHours(1)));
        live.policies.override("p", "carol", KeyOverride.unlimited().lasting(HOUR));
        live.policies.removeOverride("p", "carol");
        live.ticker.advanceNanos(HOUR.toNanos() - 1);
        assertThat(heard).hasSize(4);
        live.ticker.advanceNanos(1);

        Instant end = now(live);
        assertThat(heard)
                .containsExactly(
                        new RateLimitOverrideEvent("p", "alice", Action.SET, true, "ops", "blocked", end, "flood"),
                        new RateLimitOverrideEvent("p", "bob", Action.SET, true, "ops", "9/hour", end.plus(HOUR), null),
                        new RateLimitOverrideEvent("p", "carol", Action.SET, true, "ops", "unlimited", end, null),
                        new RateLimitOverrideEvent("p", "carol", Action.REMOVED, true, "ops", "unlimited", end, null),
                        new RateLimitOverrideEvent("p", "alice", Action.EXPIRED, false, null, "blocked", end, "flood"));
        live.ticker.advance(HOUR);
        assertThat(heard).hasSize(6);
        live.policies.override("p", "dave", KeyOverride.blocked().lasting(HOUR));
        live.close();
        live.ticker.advance(HOUR);
        assertThat(heard).hasSize(7);
    }

    @Test
    void overridesOfOthers_areEvents_unlessTheyAreMany_andKeysAreHashes() {
        List<Object> heard = new ArrayList<>();
        LiveRules live = new LiveRules("p.limit=3/hour", "p.key=user");
        live.publishTo(new QueuedEvents(heard::add, Runnable::run));
        LiveRules other = new LiveRules("p.limit=3/hour", "p.key=user");
        other.identify(() -> "ops");
        Register register = new Register();
        register.share(live);
        register.share(other);

        other.policies.override("p", "alice", KeyOverride.blocked().because("flood"));
        register.read(live);
        register.read(live);
        other.policies.removeOverride("p", "alice");
        register.read(live);
        live.changes.adopt(blocks(live, 101), 0);
        live.ticker.advance(HOUR);

        assertThat(heard)
                .extracting(event -> ((RateLimitOverrideEvent) event).action())
                .containsExactly(Action.SET, Action.REMOVED);
        assertThat(heard.get(0)).isInstanceOfSatisfying(RateLimitOverrideEvent.class, event -> {
            assertThat(event.key()).startsWith("#");
            assertThat(event.here()).isFalse();
            assertThat(event.by()).isEqualTo("ops");
            assertThat(event.reason()).isEqualTo("flood");
        });
    }

    @Test
    @SuppressWarnings("unchecked")
    void explanation_state_andCaller_nameTheOverrideThatDecides() {
        LiveRules live =
                new LiveRules("p.limit=3/hour", "p.key=ip", "p.concurrency=5", "ratelimit.exempt.addresses=10.0.0.9");
        live.policies.override(
                "p", "10.0.0.0/8", KeyOverride.blocked().lasting(HOUR).because("flood"));
        live.policies.override("p", "10.0.0.8", KeyOverride.to("99/hour"));
        Map<String, Object> blocked = Map.of(
                "key",
                "10.0.0.0/8",
                "limit",
                "blocked",
                "until",
                now(live).plus(HOUR).toString(),
                "reason",
                "flood",
                "by",
                "the application",
                "since",
                live.policies.overrides("p").get(0).since().toString(),
                "version",
                Objects.requireNonNull(((List<Map<String, Object>>) Objects.requireNonNull(
                                live.report("p", null, true).get("overrides")))
                        .get(0)
                        .get("version")));

        assertThat(policies(live, "10.0.0.7"))
                .allSatisfy(policy -> assertThat(policy).containsEntry("liveOverride", blocked))
                .hasSize(2);
        assertThat(policies(live, "10.0.0.8"))
                .extracting(policy -> policy.get("liveOverride"))
                .satisfiesExactly(
                        own -> assertThat(own).asString().contains("99/hour"),
                        // the concurrency limit is only blocked by the network
                        own -> assertThat(own).isEqualTo(blocked));
        assertThat(policies(live, "10.0.0.9"))
                .allSatisfy(policy -> assertThat(policy).doesNotContainKey("liveOverride"));
        assertThat(policies(live, "192.0.2.1"))
                .allSatisfy(policy -> assertThat(policy).doesNotContainKey("liveOverride"));
        assertThat(live.report("p", List.of("10.0.0.7"), true)).containsEntry("liveOverride", blocked);
        assertThat(live.caller(new Caller(null, "10.0.0.7", List.of(), null), true)
                        .get("policies"))
                .asString()
                .contains("liveOverride={key=10.0.0.0/8, limit=blocked");
        live.ticker.advance(HOUR);
        assertThat(policies(live, "10.0.0.7"))
                .allSatisfy(policy -> assertThat(policy).doesNotContainKey("liveOverride"));
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> policies(LiveRules live, String address) {
        return (List<Map<String, Object>>) Objects.requireNonNull(
                live.explain(null, from(address), List.of(), true).get("policies"));
    }

    /** Half of a surrogate pair has no encoding, so it would be another text for others. */
    @Test
    void textThatIsNoUnicode_isRefused_whereverItEnters() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user");

        assertThatThrownBy(() -> live.policies.override("p", "\ud800", KeyOverride.blocked()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("key must be valid Unicode but has half of a surrogate pair: '\\ud800'");
        assertThatThrownBy(() ->
                        live.policies.override("p", "a", KeyOverride.blocked().because("\udc00\ud800")))
                .hasMessageStartingWith("reason must be valid Unicode");
        assertThatThrownBy(() -> live.policies.override("p", "a", KeyOverride.to("1/hour\ud800")))
                .hasMessageStartingWith("limit must be valid Unicode");
        assertThatThrownBy(() -> live.policies.removeOverride("p", "a\udc00"))
                .hasMessageStartingWith("key must be valid Unicode");
        assertThatThrownBy(() -> live.policies.change(
                        "p", RateLimitChange.toLimit("1/hour").because("\ud800")))
                .hasMessageStartingWith("reason must be valid Unicode");
        assertThatThrownBy(() -> live.policies.startTrial(
                        "p", RateLimitTrial.of("1/hour").because("\ud800")))
                .hasMessageStartingWith("reason must be valid Unicode");
        assertThat(live.policies.overrides("p")).isEmpty();
        assertThat(live.policies.history(10)).isEmpty();
    }

    @Test
    void whatIsShared_isReadAgain_whateverTheOperatorIsCalled() {
        LiveRules live = new LiveRules("p.limit=100/hour", "p.key=user");
        live.identify(() -> "a\ud800");

        live.policies.override("p", "\ud83d\ude00", KeyOverride.blocked());

        assertThat(live.policies.overrides("p").get(0).by()).isEqualTo("a\ufffd");
        assertThat(ChangedValue.parse(live.changes.text(ChangeStore.Name.ofKey("p", "\ud83d\ude00"))))
                .hasEntrySatisfying("override", value -> assertThat(value.by()).isEqualTo("a\ufffd"));
    }

    private static String version(Map<String, Object> answer) {
        return String.valueOf(answer.get("version"));
    }

    @Test
    void answer_tellsWhatWasReplaced_andTheUsualSpelling_soThatItCanBeUndone() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=ip");
        live.policies.override("p", "203.0.113.0/24", KeyOverride.to("5/hour").because("contract"));

        Map<String, Object> set = live.setOverride("p", "203.0.113.7/24", KeyOverride.blocked(), null);

        assertThat(set)
                .containsEntry("canonicalKey", "203.0.113.0/24")
                .containsEntry("replaced", Map.of("limit", "5/hour", "reason", "contract"));
        Map<String, Object> removed = live.endOverride("p", "203.0.113.0/24", version(set));
        assertThat(removed).containsEntry("replaced", Map.of("limit", "blocked"));
        assertThat(live.setOverride("p", "203.0.113.0/24", KeyOverride.blocked(), version(removed)))
                .doesNotContainKey("replaced");
    }

    @Test
    void change_ofAnotherVersionOfAKey_isRefused() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");
        String mine = version(live.setOverride("p", "zoe", KeyOverride.to("5/hour"), null));
        live.policies.override("p", "zoe", KeyOverride.to("5/hour").because("stolen key"));

        assertThatThrownBy(() -> live.endOverride("p", "zoe", mine))
                .isInstanceOf(StaleVersionException.class)
                .hasMessageContaining("the override of this key was changed meanwhile, and it is 5/hour now, set by"
                        + " 'the application', because of 'stolen key'");
        assertThatThrownBy(() -> live.setOverride("p", "zoe", KeyOverride.blocked(), mine))
                .isInstanceOf(StaleVersionException.class);
        assertThat(live.policies.overrides("p").get(0).reason()).isEqualTo("stolen key");
    }

    @Test
    void override_afterAClockThatWasAhead_isInForce() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");
        live.ticker.setWallClock(Duration.ofHours(3));
        live.policies.override("p", "alice", KeyOverride.blocked().lasting(HOUR));
        live.ticker.setWallClock(Duration.ofHours(-3));

        live.policies.override("p", "mallory", KeyOverride.blocked().lasting(HOUR.multipliedBy(2)));

        assertThat(live.admits(by("mallory"))).isFalse();
        assertThat(live.policies.overrides("p")).hasSize(2);
    }

    @Test
    void override_thatHasEnded_doesNotComeBack_whateverBecomesOfTheClock() {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");
        live.policies.override("p", "mallory", KeyOverride.blocked().lasting(HOUR));
        live.ticker.setWallClock(Duration.ofHours(3));
        live.ticker.advance(Duration.ofMinutes(1));

        live.ticker.setWallClock(Duration.ofHours(-3));

        assertThat(live.admits(by("mallory"))).isTrue();
    }

    /** By a clock that the alarm has not looked at yet. */
    @Test
    void override_thatARequestOrAnOperatorHasSeenEnd_doesNotComeBack() {
        for (Consumer<LiveRules> seer : List.<Consumer<LiveRules>>of(
                live -> live.admits(by("mallory").from("192.0.2.1")),
                live -> live.admits(by("bob").from("10.0.0.1")),
                live -> live.policies.overrides("p"))) {
            List<Object> heard = new ArrayList<>();
            LiveRules live = new LiveRules(
                    "p.limit=10/hour",
                    "p.key=user",
                    "ratelimit.policies.a.limit=10/hour",
                    "ratelimit.policies.a.key=ip");
            live.policies.override("p", "mallory", KeyOverride.blocked().lasting(HOUR));
            live.policies.override("a", "10.0.0.0/8", KeyOverride.blocked().lasting(HOUR));
            live.publishTo(new QueuedEvents(heard::add, Runnable::run));

            live.ticker.setWallClock(Duration.ofHours(3));
            seer.accept(live);
            live.ticker.setWallClock(Duration.ofHours(-3));

            assertThat(heard)
                    .extracting(event -> ((RateLimitOverrideEvent) event).action())
                    .containsExactly(Action.EXPIRED, Action.EXPIRED);
            assertThat(live.admits(by("mallory").from("10.0.0.1"))).isTrue();
            assertThat(live.policies.overrides("p")).isEmpty();
        }
    }

    @Test
    void override_thatTakesABurst_saysSo() {
        LiveRules live = new LiveRules("p.limit=10/minute", "p.burst=100", "p.key=user");

        assertThat(live.setOverride("p", "a", KeyOverride.to("20/minute"), null))
                .containsEntry(
                        "remark",
                        "an override has no burst: this key is admitted at most 20 at once, and others under this policy"
                                + " up to 100");
        assertThat(live.setOverride("p", "a", KeyOverride.to("200/minute"), null))
                .doesNotContainKey("remark");
    }

    /** The key may be of that plan. */
    @Test
    void override_thatTakesTheBurstOfAPlan_saysSo() {
        PlanResolver plans = request -> null;
        LiveRules live = new LiveRules(
                Map.of("plans", plans),
                "p.limit=10/minute",
                "p.key=user",
                "p.plans.pro.limit=60/minute",
                "p.plans.pro.burst=300");

        assertThat(live.setOverride("p", "a", KeyOverride.to("120/minute"), null))
                .hasEntrySatisfying(
                        "remark", remark -> assertThat((String) remark).endsWith("others under this policy up to 300"));
    }

    @Test
    void override_thatDoesNotApplyHere_isMarked_notCounted_notLogged_andCanBeRemoved(CapturedOutput output) {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=ip");
        LiveRules before = new LiveRules(
                "p.limit=10/hour",
                "p.key=user",
                "ratelimit.policies.gone.limit=1/hour",
                "ratelimit.policies.gone.key=user");
        Register register = new Register();
        register.share(before);
        register.share(live);
        before.policies.override("p", "alice.miller@example.com", KeyOverride.blocked());
        before.policies.override("gone", "bob", KeyOverride.blocked());

        register.read(live);

        assertThat(String.valueOf(live.overrideReport.of("p", true)))
                .contains("doesNotApply='alice.miller@example.com' is not an address");
        assertThat(String.valueOf(live.overrideReport.of("p", false)))
                .contains("doesNotApply=")
                .doesNotContain("alice");
        assertThat(live.overrides.count("p")).isZero();
        assertThat(output)
                .contains("1 of the overrides of keys under rate limit 'p' do not apply")
                .doesNotContain("on this instance: 'alice");
        assertThat(live.policies.removeOverride("p", "alice.miller@example.com"))
                .isTrue();
        assertThat(live.policies.overrides("gone")).hasSize(1);
        assertThat(live.policies.removeOverride("gone", "bob")).isTrue();
        register.read(before);
        assertThat(before.policies.overrides("p")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"Blocked", "block", "deny", "0/minute"})
    void limitThatIsAnotherWord_isRefused_withTheWordsThatThereAre(String limit) {
        LiveRules live = new LiveRules("p.limit=10/hour", "p.key=user");

        assertThatThrownBy(() -> live.policies.override("p", "a", KeyOverride.to(limit)))
                .hasMessageContaining("write blocked, unlimited, or limits such as 50/minute");
    }
}
