package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.rule.Stage;
import dev.ratelimit.test.FakeTicker;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.web.util.pattern.PathPatternParser;

/** What rules tell a web stack to fetch before they are charged, and when they ask for the endpoint. */
class ReadsOfRulesTest {

    private static final Endpoint HANDLER =
            Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse("/own"));

    /** Rules whose only endpoint is that of a handler. */
    private static final class Rules implements EndpointResolver {

        private final FakeTicker ticker = new FakeTicker();
        private final RequestRules rules;
        private final RequestLimiter limiter;
        private int lookUps;

        /** In a property, {@code p.} means the policy p. */
        Rules(String... properties) {
            Map<String, String> map = new HashMap<>(Map.of("ratelimit.enabled", "true"));
            Stream.of(properties)
                    .map(property -> property.replaceFirst("^([pq])\\.", "ratelimit.policies.$1."))
                    .map(property -> property.split("=", 2))
                    .forEach(property -> map.put(property[0], property[1]));
            RateLimitProperties bound = new Binder(new MapConfigurationPropertySource(map))
                    .bind("ratelimit", RateLimitProperties.class)
                    .get();
            DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
            beans.registerSingleton("tenants", (KeyResolver) request -> null);
            beans.registerSingleton("tariffs", (PlanResolver) request -> null);
            rules = new RequestRules(bound, beans, text -> text, limit -> {});
            InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
            limiter = new RequestLimiter(
                    rules,
                    bound,
                    new WaitingRequests(rules, store, ticker, ticker),
                    (policy, key, outcome, request) -> {},
                    ticker,
                    null);
        }

        Rules handler(String method) {
            try {
                rules.add(HANDLER, Handlers.class, Handlers.class.getDeclaredMethod(method, String.class));
            } catch (NoSuchMethodException e) {
                throw new IllegalArgumentException(e);
            }
            return enforced();
        }

        Rules enforced() {
            rules.enforce(this);
            return this;
        }

        @Override
        public Endpoint resolve(WebRequest request) {
            lookUps++;
            return request.path().value().equals("/own") ? HANDLER : Endpoint.NOWHERE;
        }

        @Override
        public boolean isGuess(WebRequest request) {
            return request.attribute("guess") != null;
        }

        @Override
        public boolean mayLeadToAnnotated(WebRequest request) {
            return true;
        }
    }

    static class Handlers {

        @RateLimited(value = "5/minute", key = "user")
        void byUser(String id) {}

        @RateLimited(value = "5/minute", key = "ip")
        void byAddress(String id) {}

        @RateLimited(policy = "p", cost = "#id.length()")
        void costs(String id) {}

        @RateLimited(policy = "p", cost = "#principal.name.length()")
        void costsOfCaller(String id) {}

        @RateLimitExempt
        void exempt(String id) {}
    }

    private static Reads reads(String... properties) {
        return new Rules(properties).enforced().rules.inForce().reads("p");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ip                     | address",
                "user                   | address, user",
                "principal              | address, user",
                "endpoint, method       | method, endpoint",
                "session                | address, session",
                "route, ip              | route, address",
                "header:X-Key           | header x-key, address",
                "query:q                | query q, address",
                "cookie:c               | cookie c, address",
                "path:id                | path variable id, address",
                "claim:sub              | address, claim sub",
                "bean:tenants           | address, bean tenants",
                "#request.session.id    | address, session",
                "#request.getHeader('A')| header a, address"
            })
    void policy_eachKindOfKey_whatItReadsAndTheAddressInPlaceOfAMissingPart(String key, String reads) {
        assertThat(reads("p.limit=1/minute", "p.key=" + key)).hasToString(reads);
    }

    @Test
    void policy_everyKind_readsSomething() {
        Stream<String> parts = Stream.of(KeyKind.values())
                .filter(kind -> kind != KeyKind.EXPRESSION)
                .map(kind -> Map.of(
                                KeyKind.HEADER, "header:a",
                                KeyKind.QUERY, "query:a",
                                KeyKind.COOKIE, "cookie:a",
                                KeyKind.PATH, "path:a",
                                KeyKind.CLAIM, "claim:a",
                                KeyKind.BEAN, "bean:tenants")
                        .getOrDefault(kind, kind.toString()));

        assertThat(parts)
                .allSatisfy(part -> assertThat(reads("p.limit=1/minute", "p.missing-key=reject", "p.key=" + part))
                        .isNotEqualTo(Reads.NOTHING));
    }

    @Test
    void policy_conditionsCostsPlansAndOverrides_areRead() {
        assertThat(reads("p.limit=9/minute", "p.match.when=#request.getHeader('W') == null"))
                .hasToString("header w");
        assertThat(reads("p.limit=9/minute", "p.permits=#request.getParameter('n')"))
                .hasToString("parameter n");
        assertThat(reads("p.plans.default=9/minute", "p.plans.pro=10/minute", "p.plan-resolver=tariffs"))
                .hasToString("bean tariffs");
        assertThat(reads("p.limit=9/minute", "p.key=endpoint, ip", "p.overrides[10.0.0.1]=unlimited"))
                .hasToString("endpoint, address");
    }

    @Test
    void policy_behindProxies_readsTheirHeaders() {
        assertThat(reads(
                        "p.limit=1/minute",
                        "p.key=ip",
                        "ratelimit.trusted-proxies=10.0.0.0/8",
                        "ratelimit.forwarded-header=x-forwarded-for"))
                .hasToString("header x-forwarded-for, address");
    }

    @Test
    void policy_costsOfHandlers_areReadToo() {
        Rules rules = new Rules("p.limit=9/minute", "p.key=ip").handler("costs");

        assertThat(rules.rules.inForce().reads("p")).hasToString("address, argument id");
        assertThat(rules.limiter.reads()).hasToString("address");
    }

    @Test
    void policy_unknown_isSaid() {
        assertThatThrownBy(() ->
                        new Rules("p.limit=1/minute").enforced().rules.inForce().reads("q"))
                .isInstanceOf(UnknownPolicyException.class);
    }

    @Test
    void stage_hasThatOfItsRulesAndExemptions() {
        Rules rules = new Rules(
                        "p.limit=1/minute",
                        "p.key=header:A",
                        "p.missing-key=reject",
                        "q.limit=1/minute",
                        "q.key=session",
                        "q.missing-key=reject",
                        "ratelimit.exempt.when=#principal?.name == 'probe'")
                .enforced();

        assertThat(rules.limiter.beforeSecurity().reads()).hasToString("header a");
        assertThat(rules.limiter.afterSecurity().reads()).hasToString("user, session");
        assertThat(rules.limiter.reads()).hasToString("header a, user, session");
    }

    @Test
    void request_hasThatOfTheRulesOfItsPathAndMethod() {
        RequestLimiter limiter = new Rules(
                        "p.limit=1/minute",
                        "p.key=session",
                        "p.missing-key=reject",
                        "p.match.paths=/login",
                        "p.match.methods=POST")
                .enforced()
                .limiter;

        assertThat(limiter.toFetch(null, new RecordedRequest("POST", "/login"))).hasToString("session");
        assertThat(limiter.toFetch(null, new RecordedRequest("GET", "/login"))).isEqualTo(Reads.NOTHING);
        assertThat(limiter.toFetch(null, new RecordedRequest("POST", "/other"))).isEqualTo(Reads.NOTHING);
    }

    @Test
    void request_whoseEndpointIsKnownLater_hasThatOfTheRulesThatWereLeft() {
        RequestLimiter limiter = new Rules(
                        "p.limit=1/minute",
                        "p.key=endpoint, session",
                        "p.stage=before-security",
                        "p.missing-key=reject")
                .enforced()
                .limiter;

        ChargedRequest charged =
                limiter.beforeSecurity().charge(null, new RecordedRequest().withAttribute("guess", true));

        assertThat(charged.isRefused()).isFalse();
        assertThat(limiter.afterSecurity().toFetch(charged, new RecordedRequest()))
                .hasToString("session");
    }

    @ParameterizedTest
    @CsvSource({
        "byUser, p.key=ip, 0",
        "byUser, p.stage=after-security, 0",
        "exempt, p.stage=after-security, 0",
        "costs, p.stage=after-security, 0",
        "byAddress, p.key=ip, 1",
        "exempt, p.key=ip, 1",
        "costs, p.key=ip, 1",
        "costsOfCaller, p.key=ip, 1",
    })
    void beforeSecurity_looksUpTheEndpointOnlyIfItsRulesDependOnIt(String handler, String property, int lookUps) {
        Rules rules = new Rules("p.limit=9/minute", property).handler(handler);

        rules.limiter.beforeSecurity().charge(null, new RecordedRequest("GET", "/own"));

        assertThat(rules.lookUps).isEqualTo(lookUps);
    }

    @ParameterizedTest
    @CsvSource({"byUser, 1", "byAddress, 0", "exempt, 1", "costs, 1", "costsOfCaller, 1"})
    void afterSecurity_looksUpTheEndpointOnlyIfItsRulesDependOnIt(String handler, int lookUps) {
        Rules rules = new Rules("p.limit=9/minute", "p.key=ip").handler(handler);

        rules.limiter.afterSecurity().charge(null, new RecordedRequest("GET", "/own"));

        assertThat(rules.lookUps).isEqualTo(lookUps);
    }

    @Test
    void beforeSecurity_managementWithoutRules_looksUpNothing() {
        Rules rules = new Rules("p.limit=9/minute", "p.stage=after-security").enforced();

        assertThat(rules.rules.inForce().reads(Stage.BEFORE_SECURITY)).isEqualTo(Reads.NOTHING);
        rules.limiter.beforeSecurity().charge(null, new RecordedRequest("GET", "/actuator"));

        assertThat(rules.lookUps).isZero();
    }
}
