package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.test.FakeTicker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** Policies that the routes of a gateway name. */
class RouteLimitsTest {

    private final FakeTicker ticker = new FakeTicker().advanceOnRead(Duration.ofNanos(1));
    private final RateLimitStore store = InMemoryStore.builder().ticker(ticker).build();
    private final List<String> outcomes = new ArrayList<>();
    private final List<Charge> held = new ArrayList<>();
    private RequestRules rules;
    private RequestLimiter limiter;

    RouteLimitsTest() {
        read("route.limit=9/hour", "route.match.annotated=true", "route.key=route");
    }

    private static RateLimitProperties bind(String... properties) {
        Map<String, String> map = new HashMap<>();
        Stream.of(properties)
                .map(property -> property.startsWith("ratelimit.") ? property : "ratelimit.policies." + property)
                .map(property -> property.split("=", 2))
                .forEach(property -> map.put(property[0], property[1]));
        return new Binder(new MapConfigurationPropertySource(map))
                .bind("ratelimit", RateLimitProperties.class)
                .get();
    }

    private void read(String... properties) {
        RateLimitProperties bound = bind(properties);
        rules = new RequestRules(bound, new DefaultListableBeanFactory(), text -> text, limit -> {});
        rules.enforce(new EndpointResolver() {
            @Override
            public Endpoint resolve(WebRequest request) {
                return Endpoint.UNMAPPED;
            }

            @Override
            public boolean mayLeadToAnnotated(WebRequest request) {
                return false;
            }

            @Override
            public boolean haveRoutes() {
                return true;
            }
        });
        limiter = new RequestLimiter(
                rules,
                bound,
                new WaitingRequests(rules, store, ticker, ticker),
                new OutcomeCounter() {
                    @Override
                    public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
                        outcomes.add(policy + " " + outcome);
                    }

                    @Override
                    public Runnable held(Charge charge) {
                        held.add(charge);
                        return () -> held.remove(charge);
                    }
                },
                ticker,
                null);
    }

    private static RecordedRequest request(String route) {
        return new RecordedRequest("GET", "/a").onRoute(route).by("alice");
    }

    /** Charges a request at both stages, and then at a route that names these policies. */
    private ChargedRequest charge(String... policies) {
        ChargedRequest charged = limiter.beforeSecurity().charge(null, request("one"));
        limiter.afterSecurity().charge(charged, request("one"));
        return limiter.forRoute("one", List.of(policies)).charge(charged, request("one"));
    }

    private long left(String policy, String key) {
        Policy limits = rules.inForce().rule(policy).policy();
        return store.peek(List.of(limits.charge(key))).limits().get(0).remaining();
    }

    @Test
    void heldPermits_areCountedFromTheDecisionOn_notWhenTheRequestIsCounted() {
        read("slots.concurrency=3");
        ChargedRequest charged = limiter.beforeSecurity().charge(null, request("one"));
        limiter.afterSecurity().charge(charged, request("one"));
        assertThat(outcomes).isEmpty();
        assertThat(held).hasSize(1);

        charged.release();

        assertThat(held).isEmpty();
    }

    @Test
    void heldPermits_areNotCountedOnceTheRequestIsExempt() {
        read("slots.concurrency=3", "ratelimit.exempt.when=#principal?.name == 'alice'");
        ChargedRequest charged = limiter.beforeSecurity().charge(null, request("one"));
        assertThat(held).hasSize(1);

        limiter.afterSecurity().charge(charged, request("one"));

        assertThat(held).isEmpty();
    }

    @Test
    void heldPermits_comeBackWhenALimitOfTheRouteRefuses() {
        read("slots.concurrency=3", "route.limit=1/hour", "route.match.annotated=true");
        ChargedRequest first = charge("route");

        ChargedRequest refused = charge("route");

        assertThat(refused.isRefused()).isTrue();
        assertThat(held).hasSize(1);
        first.release();
        assertThat(held).isEmpty();
    }

    @Test
    void named_policyOfRoutes_isChargedThereOnly() {
        ChargedRequest charged = charge("route");
        assertThat(charged.isRefused()).isFalse();
        assertThat(outcomes).isEmpty();
        charged.countAdmitted();
        ChargedRequest elsewhere = limiter.beforeSecurity().charge(null, request("two"));
        limiter.afterSecurity().charge(elsewhere, request("two"));
        elsewhere.countAdmitted();

        assertThat(left("route", "r3:one")).isEqualTo(8);
        assertThat(left("route", "r3:two")).isEqualTo(9);
        assertThat(outcomes).containsExactly("route ADMITTED");
    }

    @ParameterizedTest
    @CsvSource({
        "whole.match.methods=GET, 8", "whole.match.methods=POST, 8", "whole.stage=after-security, 8",
        "whole.match.except-paths=/a, 8", "whole.permits=3, 6", "whole.match.when=#principal.name == 'bob', 9",
        "whole.mode=shadow, 8", "whole.mode=off, 9", "ratelimit.exempt.when=#principal?.name == 'alice', 9"
    })
    void named_anyPolicy_isChargedOnce(String property, long left) {
        read("whole.limit=9/hour", property);

        charge("whole", "whole");

        assertThat(left("whole", "")).isEqualTo(left);
    }

    @Test
    void named_policyWithAConcurrencyLimit_holdsItsPermits() {
        read("route.limit=9/hour", "route.concurrency=2", "route.match.annotated=true");

        ChargedRequest charged = charge("route");
        assertThat(left("route", "")).isEqualTo(8);
        assertThat(left("route/concurrency", "")).isEqualTo(1);
        charged.release();

        assertThat(left("route/concurrency", "")).isEqualTo(2);
    }

    @Test
    void named_refusal_givesBackWhatStagesHaveCharged() throws IOException {
        read(
                "early.limit=9/hour",
                "late.limit=9/hour",
                "late.stage=after-security",
                "route.limit=1/hour",
                "route.match.annotated=true",
                "ratelimit.expose-shared=true");
        charge("route").countAdmitted();

        ChargedRequest refused = charge("route");
        RecordedResponse response = new RecordedResponse();
        refused.writeRefusal(response);

        assertThat(refused.isRefused()).isTrue();
        assertThat(response.status()).isEqualTo(429);
        assertThat(response.header("RateLimit"))
                .startsWith("\"early\";r=8;")
                .contains("\"late\";r=8;", "\"route\";r=0;");
        assertThat(left("early", "")).isEqualTo(8);
        assertThat(left("late", "")).isEqualTo(8);
        assertThat(outcomes)
                .containsExactlyInAnyOrder("early ADMITTED", "late ADMITTED", "route ADMITTED", "route REFUSED");
    }

    @Test
    void named_budgetOfARoute_isNotShown() {
        RecordedResponse response = new RecordedResponse();

        charge("route").writeHeaders(response);

        assertThat(response.header("RateLimit")).isNull();
    }

    @Test
    void named_waitingRequest_goesOnAtTheRoute() {
        read(
                "route.limit=1/minute",
                "route.match.annotated=true",
                "route.on-exceeded.action=wait",
                "route.on-exceeded.max-wait=2m");
        RequestLimiter route = limiter.forRoute("one", List.of("route"));
        route.charge(null, request("one"), true);
        ChargedRequest charged = limiter.afterSecurity().charge(null, request("one"), true);
        route.charge(charged, request("one"), true);
        assertThat(limiter.afterSecurity().hasWaiting(charged)).isFalse();
        assertThat(route.hasWaiting(charged)).isTrue();

        ticker.advance(Duration.ofMinutes(1));
        route.charge(charged, request("one"), true);

        assertThat(charged.isWaiting()).isFalse();
        assertThat(charged.isRefused()).isFalse();
    }

    @Test
    void reads_areThoseOfTheNamedPolicies() {
        read("early.limit=9/hour", "early.key=header:A", "route.limit=9/hour", "route.key=session, ip");

        assertThat(limiter.forRoute("one", List.of("route")).reads()).hasToString("address, session");
        assertThat(limiter.forRoute("one", List.of("route")).toFetch(null, request("one")))
                .hasToString("session");
    }

    @Test
    void forRoute_unknownName_isAMistake() {
        assertThatThrownBy(() -> limiter.forRoute("one", List.of("rout")))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessage("route one: names policy 'rout' (did you mean 'route'?), which does not exist; write one of"
                        + " [route]");
        assertThatThrownBy(() -> limiter.forRoute("one", List.of())).hasMessageContaining("names no policy; write");
    }

    @Test
    void forRoute_keyByArguments_isAMistake() {
        read("route.limit=9/hour", "route.match.annotated=true", "route.key=#login");

        assertThatThrownBy(() -> limiter.forRoute("one", List.of("route")))
                .hasMessage(
                        "route one: policy 'route' is by #login, which depends on the arguments of a method; name it in"
                                + " @RateLimited");
    }

    @Test
    void change_thatRemovesANamedPolicy_isAMistake() {
        Map<String, PolicyProperties> others = bind("other.limit=1/hour").policies();
        limiter.forRoute("one", List.of("route"));

        assertThatThrownBy(() -> rules.read(others, Map.of()))
                .hasMessage("route one: names policy 'route', which does not exist; write one of [other]");
        assertThat(rules.policies()).containsOnlyKeys("route");
    }

    @Test
    void change_thatRemovesAPolicyOfAnotherFilter_isAMistake() {
        Map<String, PolicyProperties> others = bind("other.limit=1/hour").policies();
        read("route.limit=9/hour", "other.limit=1/hour");
        limiter.forRoute("one", List.of("route"));
        limiter.forRoute("one", List.of("other"));

        assertThatThrownBy(() -> rules.read(others, Map.of())).hasMessageContaining("names policy 'route'");
    }

    @Test
    void replaceRoutes_withOthers_letsGoOfPolicies() {
        Map<String, PolicyProperties> others = bind("other.limit=1/hour").policies();
        limiter.forRoute("one", List.of("route"));
        limiter.forRoute("two", List.of("route"));

        limiter.replaceRoutes(Map.of("two", Set.of("route")));
        assertThatThrownBy(() -> rules.read(others, Map.of()))
                .hasMessageStartingWith("route two: names policy 'route'");

        limiter.replaceRoutes(Map.of());
        rules.read(others, Map.of()).enforce().run();
        assertThat(rules.policies()).containsOnlyKeys("other");
    }

    @Test
    void change_ofAMode_reachesRoutes() {
        RequestLimiter route = limiter.forRoute("one", List.of("route"));

        rules.read(Map.of("route", RateLimitChange.toMode(Mode.OFF))).enforce().run();
        route.charge(null, request("one"));

        assertThat(left("route", "r3:one")).isEqualTo(9);
    }
}
