package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Policies in shadow mode decide, count and log as if they were enforced, and nobody is refused. */
@ExtendWith(OutputCaptureExtension.class)
class ShadowTest {

    private final FakeTicker ticker = new FakeTicker();
    private final InMemoryStore memory = InMemoryStore.builder().ticker(ticker).build();
    private final List<String> outcomes = new ArrayList<>();
    private final List<String> refusedKeys = new ArrayList<>();
    private final Map<String, String> written = new TreeMap<>();
    private int decisions;

    /** Counts the calls that a store on another machine would answer over the network. */
    private class Counted extends ForwardingStore {

        Counted() {
            super(memory);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            decisions++;
            return super.decide(charges);
        }
    }

    private ShadowTest with(String policy, String limit, String mode) {
        written.put("ratelimit.policies." + policy + ".limit", limit);
        written.put("ratelimit.policies." + policy + ".mode", mode);
        written.put("ratelimit.policies." + policy + ".key", "user");
        return this;
    }

    private RequestLimiter limits(RateLimitStore store) {
        RateLimitProperties properties = new Binder(new MapConfigurationPropertySource(written))
                .bind("ratelimit", RateLimitProperties.class)
                .get();
        RequestRules rules = new RequestRules(properties, new DefaultListableBeanFactory(), text -> text, limit -> {});
        rules.enforce(RecordedRequest.leadingTo(Endpoint.UNMAPPED));
        OutcomeCounter counter = new OutcomeCounter() {
            @Override
            public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
                outcomes.add(policy + " " + outcome.tag());
                if (outcome.isRefusal()) {
                    refusedKeys.add(policy + " " + key);
                }
            }
        };
        return new RequestLimiter(
                rules, properties, new WaitingRequests(rules, store, ticker, ticker), counter, ticker, null);
    }

    private static ChargedRequest ask(RequestLimiter limits) {
        return limits.charge(null, new RecordedRequest("GET", "/").by("alice"));
    }

    @Test
    void shadow_beyondItsLimit_refusesNobodyAndIsCounted() {
        RequestLimiter limits = with("tight", "2/hour", "shadow").limits(memory);

        for (int i = 0; i < 5; i++) {
            assertThat(ask(limits).isRefused()).isFalse();
        }

        assertThat(outcomes)
                .containsExactly(
                        "tight admitted",
                        "tight admitted",
                        "tight shadow-refused",
                        "tight shadow-refused",
                        "tight shadow-refused");
    }

    @Test
    void shadows_count_whatEnforcingThemWouldAdd() {
        RequestLimiter limits = with("real", "4/hour", "enforce")
                .with("tight", "3/hour", "shadow")
                .with("tighter", "1/hour", "shadow")
                .limits(memory);

        for (int i = 0; i < 10; i++) {
            ask(limits);
        }

        assertThat(outcomes.stream().filter("real refused"::equals)).hasSize(6);
        assertThat(outcomes.stream().filter("tight shadow-refused"::equals)).hasSize(1);
        assertThat(outcomes.stream().filter("tighter shadow-refused"::equals)).hasSize(3);
    }

    /** Of the policy that has refused and, for admitted requests, of those that would have. */
    @Test
    void shadow_tellsWhomItWouldRefuse() {
        RequestLimiter limits = with("real", "3/hour", "enforce")
                .with("tight", "1/hour", "shadow")
                .limits(memory);

        for (int i = 0; i < 4; i++) {
            ask(limits);
        }

        assertThat(refusedKeys).containsExactly("tight u5:alice", "tight u5:alice", "real u5:alice");
    }

    @Test
    void shadow_writesNoHeaders() {
        RequestLimiter limits = with("wide", "100/hour", "enforce")
                .with("tight", "1/hour", "shadow")
                .limits(memory);
        for (int i = 0; i < 2; i++) {
            RecordedResponse response = new RecordedResponse();

            ask(limits).writeHeaders(response);

            assertThat(response.header("RateLimit-Policy")).isEqualTo("\"wide\";q=100;w=3600");
            assertThat(response.header("RateLimit")).startsWith("\"wide\";r=" + (99 - i));
        }
    }

    @Test
    void enforced_refusesBesideShadow_andNamesOnlyItself() throws Exception {
        RequestLimiter limits = with("real", "1/hour", "enforce")
                .with("tight", "1/day", "shadow")
                .limits(memory);
        ask(limits);
        outcomes.clear();

        ChargedRequest refused = ask(limits);
        RecordedResponse response = new RecordedResponse();
        refused.writeRefusal(response);

        assertThat(refused.isRefused()).isTrue();
        assertThat(response.body()).contains("\"violated-policies\":[\"real\"]").doesNotContain("tight");
        assertThat(response.header("RateLimit")).doesNotContain("tight");
        assertThat(Long.parseLong(String.valueOf(response.header("Retry-After"))))
                .isLessThanOrEqualTo(3601);
        assertThat(outcomes).containsExactly("real refused");
    }

    @Test
    void shadow_thatRefuses_isLeftOut_andTheOthersAreCharged() {
        RequestLimiter limits = with("first", "1/hour", "shadow")
                .with("second", "3/hour", "shadow")
                .with("real", "5/hour", "enforce")
                .limits(memory);

        int admitted = 0;
        for (int i = 0; i < 8; i++) {
            admitted += ask(limits).isRefused() ? 0 : 1;
        }

        assertThat(admitted).isEqualTo(5);
        assertThat(outcomes.stream().filter("first admitted"::equals)).hasSize(1);
        assertThat(outcomes.stream().filter("second admitted"::equals)).hasSize(3);
    }

    @Test
    void shadow_thatAdmits_costsNoSecondDecision() {
        RequestLimiter limits = with("real", "5/hour", "enforce")
                .with("tight", "5/hour", "shadow")
                .limits(new Counted());

        for (int i = 0; i < 5; i++) {
            ask(limits);
        }

        assertThat(decisions).isEqualTo(5);
    }

    @Test
    void blockedAndMissingKeys_inShadow_refuseNobody() {
        with("blocked", "5/hour", "shadow").with("needs", "5/hour", "shadow");
        written.put("ratelimit.policies.blocked.overrides.alice", "blocked");
        written.put("ratelimit.policies.needs.missing-key", "reject");
        written.put("ratelimit.policies.needs.key", "header:X-Id");
        RequestLimiter limits = limits(memory);

        assertThat(ask(limits).isRefused()).isFalse();
        assertThat(outcomes).containsExactlyInAnyOrder("blocked shadow-refused", "needs shadow-refused");
    }

    @Test
    void storeThatFailsForAShadow_refusesNobody() {
        RateLimitStore failing = new Counted() {
            @Override
            public Decision decide(List<Charge> charges) {
                if (charges.stream().anyMatch(charge -> charge.policy().name().equals("tight"))) {
                    throw new StoreUnavailableException("tight", Duration.ofSeconds(1), "no answer");
                }
                return super.decide(charges);
            }
        };
        RequestLimiter limits = with("real", "1/hour", "enforce")
                .with("tight", "1/hour", "shadow")
                .limits(failing);

        assertThat(ask(limits).isRefused()).isFalse();
        assertThat(ask(limits).isRefused()).isTrue();
        assertThat(outcomes).contains("tight unavailable", "real admitted", "real refused");
    }

    @Test
    void refusals_areLoggedOncePerMinute(CapturedOutput output) {
        RequestLimiter limits = with("tight", "1/day", "shadow").limits(memory);
        for (int i = 0; i < 4; i++) {
            ask(limits);
        }
        assertThat(output.getOut()).containsOnlyOnce("shadow mode").contains("refused 1 request; this is logged");

        ticker.advance(Duration.ofMinutes(1));
        ask(limits);

        assertThat(output.getOut()).contains("refused 2 requests since the last message");
        assertThat(output.getOut()).doesNotContain("alice");
    }

    @Test
    void restOfABurst_isLoggedAMinuteLater_withoutAnotherRequest(CapturedOutput output) {
        RequestLimiter limits = with("tight", "1/day", "shadow").limits(memory);
        for (int i = 0; i < 186; i++) {
            ask(limits);
        }
        ticker.advance(Duration.ofSeconds(59));
        assertThat(output.getOut()).doesNotContain("184");

        ticker.advance(Duration.ofSeconds(1));
        assertThat(output.getOut()).contains("refused 184 requests since the last message");

        ticker.advance(Duration.ofHours(1));
        assertThat(output.getOut()).doesNotContain("refused 0");
        ask(limits);
        assertThat(output.getOut()).contains("refused 1 request since the last message");
    }

    @Test
    void requestsThatTheStoreDidNotDecide_areLogged(CapturedOutput output) {
        RateLimitStore failing = new Counted() {
            @Override
            public Decision decide(List<Charge> charges) {
                throw new StoreUnavailableException("real", Duration.ofSeconds(1), "no answer");
            }
        };
        RequestLimiter limits = with("real", "1/hour", "enforce").limits(failing);

        for (int i = 0; i < 5; i++) {
            assertThat(ask(limits).isRefused()).isTrue();
        }
        ticker.advance(Duration.ofMinutes(1));

        assertThat(output.getOut())
                .contains(
                        "The store has failed or did not answer in time, so rate limit 'real' could not decide about 1 request; this is"
                                + " logged once a minute at most")
                .contains("could not decide about 4 requests since the last message");
    }
}
