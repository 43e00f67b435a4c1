package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.TestApi;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The options of a policy besides its limit: to whom it applies, and with which limits. */
@Tag("servers")
class ChoicesTest extends AppPerTest {

    /** Beans that policies can refer to. */
    @Configuration(proxyBeanMethods = false)
    static class Beans {

        @Bean
        KeyResolver tenant() {
            return request -> request.header("X-Tenant");
        }

        @Bean
        PlanResolver plans() {
            return request -> {
                if ("broken".equals(request.header("X-Plan"))) {
                    throw new IllegalStateException("broken");
                }
                return request.header("X-Plan");
            };
        }
    }

    /** An exempt endpoint of a limited controller, and a limited endpoint of an exempt one. */
    @RestController
    @RateLimited("1/hour")
    static class Limited {
        @GetMapping("/limited/free")
        @RateLimitExempt
        String free() {
            return "free";
        }

        @GetMapping("/limited/paid")
        String paid() {
            return "paid";
        }
    }

    @RestController
    @RateLimitExempt
    static class Exempt {
        @GetMapping("/exempt/free")
        String free() {
            return "free";
        }

        @GetMapping("/exempt/paid")
        @RateLimited("1/hour")
        String paid() {
            return "paid";
        }
    }

    private void start(String... properties) {
        start(List.of(TestApi.class, Beans.class, Limited.class, Exempt.class), properties);
    }

    /** How many of 20 requests are admitted. */
    private long admitted(String path, String... headers) {
        return IntStream.range(0, 20)
                .filter(i -> app.get(path, headers).status() == 200)
                .count();
    }

    @Test
    void plans_limitByThePlanOfTheCaller() {
        start(
                "p.limit=2/hour",
                "p.key=header:X-Key",
                "p.plans.pro=4/hour",
                "p.plans.gold.limit=1/hour",
                "p.plans.gold.burst=6",
                "p.plans.vip=unlimited",
                "p.plans.gone=blocked");

        assertThat(admitted("/any", "X-Key: a")).isEqualTo(2);
        assertThat(admitted("/any", "X-Key: b", "X-Plan: pro")).isEqualTo(4);
        assertThat(admitted("/any", "X-Key: c", "X-Plan: gold")).isEqualTo(6);
        assertThat(admitted("/any", "X-Key: d", "X-Plan: vip")).isEqualTo(20);
        assertThat(admitted("/any", "X-Key: e", "X-Plan: gone")).isZero();
        assertThat(admitted("/any", "X-Key: f", "X-Plan: unheard-of")).isEqualTo(2);
        assertThat(admitted("/any", "X-Key: g", "X-Plan: broken")).isEqualTo(2);
        app.awaitCounted("p", "unlimited", 20);
    }

    @Test
    void plan_thatChanges_keepsWhatIsUsed() {
        start("p.key=header:X-Key", "p.plans.default=10/hour", "p.plans.pro=20/hour", "p.plan-resolver=plans");
        for (int i = 0; i < 5; i++) {
            app.get("/any", "X-Key: a");
        }

        RawResponse pro = app.get("/any", "X-Key: a", "X-Plan: pro");

        assertThat(pro.header("RateLimit")).startsWith("\"p\";r=9;"); // half was used, plus one
    }

    @Test
    void overrides_areForKeysByHand() {
        start(
                "p.limit=2/hour",
                "p.key=header:X-Key, endpoint",
                "p.overrides.gold=5/hour",
                "p.overrides.free=unlimited",
                "p.overrides.evil=blocked");

        assertThat(admitted("/any", "X-Key: a")).isEqualTo(2);
        assertThat(admitted("/any", "X-Key: gold")).isEqualTo(5);
        assertThat(admitted("/any", "X-Key: \u00a0gold ")).isZero();
        assertThat(admitted("/any", "X-Key: free")).isEqualTo(20);
        RawResponse blocked = app.get("/any", "X-Key: evil");
        assertThat(blocked.status()).isEqualTo(429);
        assertThat(blocked.header("Retry-After")).isNull();
        assertThat(blocked.body()).contains("\"detail\":\"Limit 'p' can never admit this request.\"");
        assertThat(blocked.body()).contains("\"violated-policies\":[\"p\"]").doesNotContain("retry-after");
    }

    @Test
    void overrides_ofAddresses_areNetworks_theNarrowestHolds() {
        start(
                "p.limit=2/hour",
                "p.key=ip",
                "p.overrides[203.0.113.0/24]=4/hour",
                "p.overrides[203.0.113.7]=unlimited",
                "p.overrides[2001:db8:bad::/48]=blocked",
                "ratelimit.trusted-proxies=127.0.0.1");

        assertThat(admitted("/any", "X-Forwarded-For: 198.51.100.1")).isEqualTo(2);
        assertThat(admitted("/any", "X-Forwarded-For: 203.0.113.1")).isEqualTo(4);
        assertThat(admitted("/any", "X-Forwarded-For: ::ffff:203.0.113.7")).isEqualTo(20);
        assertThat(admitted("/any", "X-Forwarded-For: 2001:db8:bad:1::1")).isZero();
    }

    @Test
    void exempt_addressesPathsKeysAndConditions_payNothing() {
        start(
                "p.limit=2/hour",
                "p.key=header:X-Key",
                "ratelimit.trusted-proxies=127.0.0.1",
                "ratelimit.exempt.addresses=203.0.113.0/24, 2001:db8::1",
                "ratelimit.exempt.paths=/deferred",
                "ratelimit.exempt.keys=monitor",
                "ratelimit.exempt.when=#request.getHeader('X-Probe') == 'yes'");

        assertThat(admitted("/any")).isEqualTo(2);
        assertThat(admitted("/any", "X-Forwarded-For: 203.0.113.1")).isEqualTo(20);
        assertThat(admitted("/deferred")).isEqualTo(20);
        assertThat(admitted("/any", "X-Key: monitor")).isEqualTo(20);
        assertThat(admitted("/any", "X-Probe: yes")).isEqualTo(20);
        assertThat(admitted("/any", "X-Probe: no")).isZero();
        app.awaitCounted("p", "exempt", 80);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.exempt.addresses=127.0.0.0/8 | 2",
                "p.overrides[127.0.0.1]=unlimited | 2",
                "p.overrides[127.0.0.0/8]=9/hour | 2",
                "p.overrides[127.0.0.1]=blocked | 0"
            })
    void addressOfATrustedProxy_isNoPrivilege(String property, int admitted) {
        start("p.limit=2/hour", "p.key=ip", "ratelimit.trusted-proxies=127.0.0.1", property);

        assertThat(admitted("/any", "X-Forwarded-For: unreadable")).isEqualTo(admitted);
        assertThat(admitted("/any", "Forwarded: for=_hidden")).isZero();
        assertThat(admitted("/any", "Forwarded: for=203.0.113.1", "X-Forwarded-For: 203.0.113.2"))
                .isZero();
        assertThat(admitted("/any")).isZero();
        assertThat(admitted("/any", "X-Forwarded-For: 203.0.113.1")).isEqualTo(2);
    }

    @Test
    void exemptAnnotation_takesOutOfEveryPolicy() {
        start("p.limit=5/hour");

        assertThat(admitted("/limited/free")).isEqualTo(20);
        assertThat(admitted("/exempt/free")).isEqualTo(20);
        assertThat(admitted("/limited/paid")).isEqualTo(1);
        assertThat(admitted("/exempt/paid")).isEqualTo(1);
        assertThat(admitted("/any")).isEqualTo(3);
    }

    @Test
    void when_isAConditionOnTheRequest() {
        start("p.limit=2/hour", "p.match.when=#request.getHeader('X-Beta') != null");

        assertThat(admitted("/any")).isEqualTo(20);
        assertThat(admitted("/any", "X-Beta: yes")).isEqualTo(2);
    }

    @Test
    void permits_canBeAnExpression_thatIsOneWhereItFails() {
        start("p.limit=10/hour", "p.permits=#request.getIntHeader('X-Cost')", "p.key=header:X-Key");

        assertThat(admitted("/any", "X-Key: a", "X-Cost: 5")).isEqualTo(2);
        assertThat(admitted("/any", "X-Key: b", "X-Cost: 0")).isEqualTo(20);
        assertThat(admitted("/any", "X-Key: c", "X-Cost: many")).isEqualTo(10);
        assertThat(admitted("/any", "X-Key: d")).isEqualTo(10); // -1 is not a cost
        RawResponse tooDear = app.get("/any", "X-Key: e", "X-Cost: 11");
        assertThat(tooDear.status()).isEqualTo(429);
        assertThat(tooDear.header("Retry-After")).isNull();
    }

    @Test
    void keys_ofEveryKind_tellRequestsApart() {
        start(
                "p.limit=1/hour",
                "p.match.paths=/orders/**",
                "p.key=path:id",
                "p.missing-key=skip",
                "ratelimit.policies.b.limit=1/hour",
                "ratelimit.policies.b.key=bean:tenant",
                "ratelimit.policies.b.match.paths=/deferred",
                "ratelimit.policies.c.limit=1/hour",
                "ratelimit.policies.c.key=cookie:who, query:q",
                "ratelimit.policies.c.match.paths=/stream");

        assertThat(app.get("/orders/1").status()).isEqualTo(200);
        assertThat(app.get("/orders/%31;x=1").status()).isEqualTo(429);
        assertThat(app.get("/orders/2").status()).isEqualTo(200);
        assertThat(admitted("/deferred", "X-Tenant: a")).isEqualTo(1);
        assertThat(admitted("/deferred", "X-Tenant: b")).isEqualTo(1);
        assertThat(admitted("/stream?q=1", "Cookie: who=a")).isEqualTo(1);
        assertThat(admitted("/stream?q=2", "Cookie: who=a")).isEqualTo(1);
        assertThat(admitted("/stream?q=2", "Cookie: who=b")).isEqualTo(1);
        assertThat(admitted("/stream?%71=2", "Cookie: who=b")).isZero();
    }

    @Test
    @DisplayName("D10 a request without a key is handled as missing-key says")
    void missingKey_isWhatThePolicySays() {
        for (String mode : List.of("ip", "shared", "skip", "reject")) {
            start(
                    "p.limit=1/hour",
                    "p.key=header:X-Key",
                    "p.missing-key=" + mode,
                    "ratelimit.trusted-proxies=127.0.0.1");
            long one = admitted("/any", "X-Forwarded-For: 203.0.113.1");
            long other = admitted("/any", "X-Forwarded-For: 203.0.113.2");
            RawResponse third = app.get("/any");

            switch (mode) {
                case "ip" -> assertThat(List.of(one, other)).containsExactly(1L, 1L);
                case "shared" -> assertThat(List.of(one, other)).containsExactly(1L, 0L);
                case "skip" -> assertThat(List.of(one, other)).containsExactly(20L, 20L);
                default -> {
                    assertThat(List.of(one, other)).containsExactly(0L, 0L);
                    assertThat(third.status()).isEqualTo(400);
                    assertThat(third.header("Retry-After")).isNull();
                    assertThat(third.body())
                            .isEqualTo("{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
                                    + "\"detail\":\"Policy 'p' requires exactly one header:x-key.\"}");
                }
            }
            assertThat(app.get("/any", "X-Key: null").status()).isEqualTo(200);
        }
    }

    @Test
    @DisplayName("C11 an identity header sent twice, in another case or with blanks does not get a new budget")
    void identityTwice_isTheAddress() {
        start("p.limit=1/hour", "p.key=header:X-Key");

        assertThat(admitted("/any", "X-Key: a")).isEqualTo(1);
        assertThat(admitted("/any", "x-KEY:   a  ")).isZero();
        assertThat(admitted("/any", "X-Key: a", "x-key: b")).isEqualTo(1); // the address
        assertThat(admitted("/any", "X-Key: c", "X-Key: d")).isZero();
    }

    @Test
    @DisplayName("C12 user names that look alike are the same, with ignore-case also those that differ in case")
    void names_inAnySpelling_areOne() {
        start("p.limit=1/hour", "p.key=header:X-Key", "ratelimit.ignore-case=true");

        assertThat(admitted("/any", "X-Key: User")).isEqualTo(1);
        assertThat(admitted("/any", "X-Key: uSER ")).isZero();
        assertThat(admitted("/any", "X-Key: \u00b5ser")).isEqualTo(1);
        assertThat(admitted("/any", "X-Key: \u00b5SER")).isZero();
    }

    @Test
    @DisplayName("C15 D9 a spray of paths, keys and addresses adds neither keys nor meters")
    void spray_ofPaths_makesNoKeys() {
        start(
                "server.tomcat.max-keep-alive-requests=-1",
                "spring.mvc.problemdetails.enabled=true",
                "spring.webflux.problemdetails.enabled=true",
                "spring.web.resources.add-mappings=false",
                "p.limit=1000000/hour",
                "p.key=endpoint",
                "ratelimit.policies.r.limit=1000000/hour",
                "ratelimit.policies.r.key=ip");
        app.client().spray(IntStream.range(0, 100).mapToObj(i -> "GET /nowhere/" + i + "?x=" + i));
        Set<Meter.Id> meters = meters();

        app.client().spray(IntStream.range(100, 10_000).mapToObj(i -> "GET /nowhere/" + i + "?x=" + i));

        assertThat(app.bean(InMemoryStore.class).keys("p")).isEqualTo(1);
        assertThat(app.bean(InMemoryStore.class).keys("r")).isEqualTo(1);
        assertThat(meters()).isEqualTo(meters);
        app.awaitCounted("p", "admitted", 10_000);
    }

    /** All meters except those of the JVM, some of which appear with the first garbage collection. */
    private Set<Meter.Id> meters() {
        return app.bean(MeterRegistry.class).getMeters().stream()
                .map(Meter::getId)
                .filter(id -> !id.getName().startsWith("jvm."))
                .collect(Collectors.toSet());
    }

    @Test
    void exposeShared_showsAllBudgets() {
        start("p.limit=10/hour", "ratelimit.expose-shared=true");

        assertThat(app.get("/any").header("RateLimit")).isEqualTo("\"p\";r=9;t=360");
    }

    /** A different response. */
    @Configuration(proxyBeanMethods = false)
    static class OwnAnswer {
        @Bean
        RejectionHandler ownAnswer() {
            return (request, response, rejection) -> {
                response.setStatus(420);
                response.write("text/plain", "calm down: " + rejection.violatedPolicies());
            };
        }
    }

    @Test
    void rejectionHandler_replacesTheAnswer_andKeepsRetryAfter() {
        start(List.of(TestApi.class, OwnAnswer.class), "p.limit=1/hour", "p.retry-jitter.max=0s");
        app.get("/any");

        RawResponse refused = app.get("/any");

        assertThat(refused.status()).isEqualTo(420);
        assertThat(refused.body()).isEqualTo("calm down: [p]");
        assertThat(refused.header("Retry-After")).isEqualTo("3600");
    }
}
