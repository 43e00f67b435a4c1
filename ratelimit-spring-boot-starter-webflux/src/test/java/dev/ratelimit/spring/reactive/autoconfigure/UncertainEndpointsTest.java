package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * With Spring Security, and a mapping of the application that nobody else can read, the filter before Spring Security can only
 * guess the handler. Twins of one path have limits that differ; none gets the other's.
 */
@Tag("servers")
class UncertainEndpointsTest {

    /** The first mapping, which finds nothing. */
    static class Unknown implements HandlerMapping, Ordered {

        @Override
        public Mono<Object> getHandler(ServerWebExchange exchange) {
            return Mono.empty();
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }
    }

    @RestController
    static class Twins {

        @GetMapping(path = "/by-address", params = "v=1")
        String unlimited() {
            return "unlimited";
        }

        @GetMapping(path = "/by-address", params = "v=2")
        @RateLimited(value = "2/hour", key = "ip")
        String byAddress() {
            return "by address";
        }

        @GetMapping(path = "/by-user", params = "v=1")
        @RateLimited(value = "1/hour", key = "user")
        String once() {
            return "once";
        }

        @GetMapping(path = "/by-user", params = "v=2")
        @RateLimited(value = "2/hour", key = "user")
        String twice() {
            return "twice";
        }

        @GetMapping(path = "/exempt", params = "v=1")
        @RateLimitExempt
        String exempt() {
            return "exempt";
        }

        @GetMapping(path = "/exempt", params = "v=2")
        String limited() {
            return "limited";
        }
    }

    @RestController
    static class Costly {

        @GetMapping("/one")
        String one() {
            return "one";
        }

        @GetMapping("/ten")
        @RateLimited(policy = "all", permits = 10)
        String ten() {
            return "ten";
        }
    }

    /** A filter of the application behind the limits, which answers all requests. */
    static class Doorman implements WebFilter {

        @Override
        public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
            exchange.getResponse().setStatusCode(HttpStatus.UNAUTHORIZED);
            return exchange.getResponse().setComplete();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Guarded {

        @Bean
        Unknown unknown() {
            return new Unknown();
        }

        @Bean
        Doorman doorman() {
            return new Doorman();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Mappings {

        @Bean
        Unknown unknown() {
            return new Unknown();
        }
    }

    private final RunningApp app = RunningApp.start(
            List.of(RunningApp.WithSecurity.class, RunningApp.Alice.class, Twins.class, Mappings.class),
            "ratelimit.policies.plain.limit=2/hour",
            "ratelimit.policies.plain.key=ip",
            "ratelimit.policies.plain.match.paths=/exempt",
            "ratelimit.policies.each.limit=4/hour",
            "ratelimit.policies.each.key=ip,endpoint");

    @AfterEach
    void stop() {
        app.close();
    }

    private List<Integer> fiveTimes(String path) {
        return IntStream.range(0, 5)
                .mapToObj(i -> app.getAs("alice", path).status())
                .toList();
    }

    @Test
    void twins_haveTheirOwnLimits() {
        assertThat(fiveTimes("/by-address?v=1")).containsExactly(200, 200, 200, 200, 429);
        assertThat(fiveTimes("/by-address?v=2")).containsExactly(429, 429, 429, 429, 429);
        app.ticker().advance(Duration.ofHours(2));
        assertThat(fiveTimes("/by-address?v=2")).containsExactly(200, 200, 429, 429, 429);
        assertThat(fiveTimes("/by-address?v=1")).containsExactly(200, 200, 429, 429, 429);
    }

    @Test
    void twins_byUser_haveTheirOwnLimits() {
        assertThat(fiveTimes("/by-user?v=1")).containsExactly(200, 429, 429, 429, 429);
        assertThat(fiveTimes("/by-user?v=2")).containsExactly(200, 200, 429, 429, 429);
    }

    @Test
    void exemption_isOfItsTwinAlone() {
        assertThat(fiveTimes("/exempt?v=1")).containsOnly(200);
        assertThat(fiveTimes("/exempt?v=2")).containsExactly(200, 200, 429, 429, 429);
        // a password may be tried, before anybody knows whether the handler is exempt
        assertThat(fiveTimes("/exempt?v=1")).containsOnly(429);
    }

    @Test
    void policyThatNeedsNoEndpoint_holdsBeforeOtherFilters_whateverOthersRead() {
        try (RunningApp guarded = RunningApp.start(
                List.of(Twins.class, Guarded.class),
                "ratelimit.policies.by-address.limit=2/hour",
                "ratelimit.policies.by-address.key=ip",
                // exhausted first, when the request has been answered
                "ratelimit.policies.each.limit=1/hour",
                "ratelimit.policies.each.key=ip,endpoint")) {
            List<Integer> statuses = IntStream.range(0, 5)
                    .mapToObj(i -> guarded.get("/exempt?v=2").status())
                    .toList();

            assertThat(statuses).containsExactly(401, 401, 429, 429, 429);
        }
    }

    @Test
    void costOfAnAnnotation_countsInPlaceOfThePolicys() {
        try (RunningApp costly = RunningApp.start(
                List.of(Costly.class, Mappings.class),
                "ratelimit.policies.all.limit=20/hour",
                "ratelimit.policies.all.key=ip")) {
            assertThat(costly.get("/ten").status()).isEqualTo(200);
            assertThat(costly.get("/one").status()).isEqualTo(200);
            assertThat(costly.get("/ten").status()).isEqualTo(429);
            assertThat(costly.get("/one").header("RateLimit")).contains("r=8");
        }
    }
}
