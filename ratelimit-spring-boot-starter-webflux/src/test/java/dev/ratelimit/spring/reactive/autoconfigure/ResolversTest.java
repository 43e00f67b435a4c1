package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.reactive.ReactiveKeyResolver;
import dev.ratelimit.spring.reactive.ReactivePlanResolver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebSession;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import org.springframework.web.server.session.DefaultWebSessionManager;
import reactor.core.publisher.Mono;

/** What keys and plans read of exchanges is fetched before, and nothing else. */
@Tag("servers")
class ResolversTest {

    static final AtomicInteger ASKED = new AtomicInteger();

    @Configuration(proxyBeanMethods = false)
    static class Resolvers {

        @Bean
        ReactiveKeyResolver tenants() {
            return exchange -> Mono.delay(Duration.ofMillis(1)).flatMap(later -> tenant(exchange));
        }

        private static Mono<String> tenant(ServerWebExchange exchange) {
            ASKED.incrementAndGet();
            String tenant = exchange.getRequest().getQueryParams().getFirst("tenant");
            return "broken".equals(tenant) ? Mono.error(new IllegalStateException("broken")) : Mono.justOrEmpty(tenant);
        }

        @Bean
        KeyResolver atOnce() {
            return request -> request.header("X-Tenant");
        }

        @Bean
        ReactivePlanResolver tariffs() {
            return exchange ->
                    Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-Plan"));
        }
    }

    @RestController
    static class Sessions {

        @GetMapping("/login")
        Mono<String> login(WebSession session) {
            session.getAttributes().put("user", "a");
            return Mono.just("in");
        }

        @PostMapping("/raw")
        Mono<String> raw(ServerHttpRequest request) {
            return DataBufferUtils.join(request.getBody()).map(body -> body.toString(StandardCharsets.UTF_8));
        }

        @GetMapping("/session")
        String session() {
            return Thread.currentThread().getName();
        }
    }

    /** Counts how often sessions are asked for. */
    static class CountingSessions extends DefaultWebSessionManager {

        private final AtomicInteger asked = new AtomicInteger();

        @Override
        public Mono<WebSession> getSession(ServerWebExchange exchange) {
            return super.getSession(exchange).doOnSubscribe(asking -> asked.incrementAndGet());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SessionManager {

        @Bean(WebHttpHandlerBuilder.WEB_SESSION_MANAGER_BEAN_NAME)
        CountingSessions sessions() {
            return new CountingSessions();
        }
    }

    private RunningApp app = start(
            "ratelimit.policies.tenants.limit=1/minute",
            "ratelimit.policies.tenants.key=bean:tenants",
            "ratelimit.policies.tenants.match.paths=/orders/**");

    private static RunningApp start(String... properties) {
        return RunningApp.start(
                List.of(Resolvers.class, SessionManager.class, Sessions.class, TestApi.class), properties);
    }

    @AfterEach
    void stop() {
        app.close();
    }

    private void restart(String... properties) {
        app.close();
        app = start(properties);
    }

    @Test
    void reactiveKey_isFetchedOnlyWhereAPolicyReadsIt() {
        ASKED.set(0);

        assertThat(app.get("/orders/1?tenant=a").status()).isEqualTo(200);
        assertThat(app.get("/orders/1?tenant=a").status()).isEqualTo(429);
        assertThat(app.get("/orders/1?tenant=b").status()).isEqualTo(200);
        assertThat(app.get("/any?tenant=b").status()).isEqualTo(200);
        assertThat(ASKED).hasValue(3);
    }

    @Test
    void reactiveKey_thatIsEmptyOrFails_isMissing() {
        assertThat(app.get("/orders/1").status()).isEqualTo(200);
        assertThat(app.get("/orders/1?tenant=broken").status()).isEqualTo(429);
    }

    @Test
    void keyAtOnce_worksAsOnServlets() {
        restart("ratelimit.policies.tenants.limit=1/minute", "ratelimit.policies.tenants.key=bean:atOnce");

        assertThat(app.get("/any", "X-Tenant: a").status()).isEqualTo(200);
        assertThat(app.get("/any", "X-Tenant: a").status()).isEqualTo(429);
        assertThat(app.get("/any", "X-Tenant: b").status()).isEqualTo(200);
    }

    @Test
    void reactivePlan_choosesTheLimit() {
        restart(
                "ratelimit.policies.plans.key=ip",
                "ratelimit.policies.plans.plans.default=1/minute",
                "ratelimit.policies.plans.plans.pro=3/minute",
                "ratelimit.policies.plans.plan-resolver=tariffs");

        assertThat(app.get("/any", "X-Plan: pro").header("RateLimit")).contains("r=2");
        assertThat(app.get("/any").header("RateLimit-Policy")).contains("q=1;");
    }

    @Test
    void session_isOnlyLookedUpIfTheRequestHasOne() {
        restart(
                "ratelimit.policies.sessions.limit=1/minute",
                "ratelimit.policies.sessions.key=session",
                "ratelimit.policies.sessions.match.paths=/session");
        RawResponse login = app.get("/login");
        String cookie = Objects.requireNonNull(login.header("Set-Cookie")).split(";", 2)[0];

        assertThat(app.get("/session", "Cookie: " + cookie).status()).isEqualTo(200);
        assertThat(app.get("/session", "Cookie: " + cookie).status()).isEqualTo(429);
        int before = app.bean(CountingSessions.class).asked.get();
        RawResponse without = app.get("/session");
        assertThat(without.status()).isEqualTo(200);
        assertThat(without.body()).startsWith("webflux-http");
        assertThat(app.bean(CountingSessions.class).asked).hasValue(before);
    }

    @Test
    void session_thatACookieInvents_isMissing() {
        restart(
                "ratelimit.policies.sessions.limit=1/minute",
                "ratelimit.policies.sessions.key=session",
                "ratelimit.policies.sessions.match.paths=/session");

        assertThat(app.get("/session", "Cookie: SESSION=one").status()).isEqualTo(200);
        assertThat(app.get("/session", "Cookie: SESSION=other").status()).isEqualTo(429);
    }

    @Test
    void form_isReadForAKeyAlone() {
        restart(
                "ratelimit.policies.accounts.limit=1/minute",
                "ratelimit.policies.accounts.key=#request.getParameter('account')",
                "ratelimit.policies.accounts.match.paths=/any");
        String type = "Content-Type: application/x-www-form-urlencoded";

        assertThat(app.client()
                        .sendBody("POST /any HTTP/1.1", "account=a", type)
                        .status())
                .isEqualTo(200);
        assertThat(app.client()
                        .sendBody("POST /any HTTP/1.1", "account=a", type)
                        .status())
                .isEqualTo(429);
        assertThat(app.client()
                        .sendBody("POST /any HTTP/1.1", "account=b", type)
                        .status())
                .isEqualTo(200);
    }

    /** The body belongs to who reads it last. */
    @Test
    void form_thatIsReadForAKey_isReadByTheHandlerByteForByte() {
        restart(
                "ratelimit.policies.accounts.limit=9/minute",
                "ratelimit.policies.accounts.key=#request.getParameter('account')",
                "ratelimit.policies.tenants.limit=9/minute",
                "ratelimit.policies.tenants.key=bean:tenants");

        for (String form : List.of("account=a&x=%C3%A4+", "account=%zz", "")) {
            assertThat(app.client()
                            .sendBody("POST /raw HTTP/1.1", form, "Content-Type: application/x-www-form-urlencoded")
                            .body())
                    .isEqualTo(form);
        }
    }

    @Test
    void form_thatIsLargerThanFormsMayBe_hasNoParameters_andArrives() {
        restart(
                "ratelimit.policies.accounts.limit=1/minute",
                "ratelimit.policies.accounts.key=#request.getParameter('account')");
        String form = "account=a&x=" + "x".repeat(300_000);
        String type = "Content-Type: application/x-www-form-urlencoded";

        assertThat(app.client().sendBody("POST /raw HTTP/1.1", form, type).body())
                .isEqualTo(form);
        assertThat(app.client()
                        .sendBody("POST /raw HTTP/1.1", "account=a", type)
                        .status())
                .isEqualTo(200);
        assertThat(app.client().sendBody("POST /raw HTTP/1.1", "x=1", type).status())
                .isEqualTo(429); // no account, either: charged to the same address
    }
}
