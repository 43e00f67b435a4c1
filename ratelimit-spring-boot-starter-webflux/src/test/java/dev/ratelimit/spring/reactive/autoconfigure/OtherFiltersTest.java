package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebSession;
import org.springframework.web.server.session.CookieWebSessionIdResolver;
import org.springframework.web.server.session.DefaultWebSessionManager;
import org.springframework.web.server.session.WebSessionManager;
import reactor.core.publisher.Mono;

/** Limits beside filters and handlers of errors that an application has itself. */
@Tag("servers")
class OtherFiltersTest {

    @Configuration(proxyBeanMethods = false)
    static class Others {

        /** After the limits. */
        @Bean
        WebFilter principal() {
            return (exchange, chain) -> {
                String name = exchange.getRequest().getHeaders().getFirst("X-User");
                return chain.filter(
                        name == null
                                ? exchange
                                : exchange.mutate()
                                        .principal(Mono.just(() -> name))
                                        .build());
            };
        }

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        WebExceptionHandler errors() {
            return (exchange, failure) -> {
                exchange.getResponse().setStatusCode(HttpStatus.INTERNAL_SERVER_ERROR);
                return exchange.getResponse().setComplete();
            };
        }

        /** Cannot save sessions. */
        @Bean
        WebSessionManager webSessionManager() {
            DefaultWebSessionManager sessions = new DefaultWebSessionManager();
            sessions.setSessionIdResolver(new CookieWebSessionIdResolver() {
                @Override
                public void setSessionId(ServerWebExchange exchange, String id) {
                    throw new IllegalStateException("on purpose");
                }
            });
            return sessions;
        }
    }

    @Service
    static class Mails {

        @RateLimited(value = "1/minute", key = "principal")
        public Mono<String> send() {
            return Mono.just("sent");
        }

        @RateLimited("1/minute")
        public String now() {
            return "now";
        }
    }

    @RestController
    static class Api {

        private final Mails mails;

        Api(Mails mails) {
            this.mails = mails;
        }

        @GetMapping("/mails")
        Mono<String> send() {
            return mails.send();
        }

        @GetMapping("/session")
        Mono<String> session(WebSession session) {
            session.getAttributes().put("name", "value");
            return Mono.just("saved");
        }

        @GetMapping("/now")
        String now() {
            return mails.now();
        }
    }

    /** Answers refusals itself, without a status. */
    @RestController
    static class Answering {

        private final Mails mails;

        Answering(Mails mails) {
            this.mails = mails;
        }

        @GetMapping("/answered")
        Mono<String> send() {
            return mails.send();
        }

        @ExceptionHandler
        String refused(RateLimitExceededException e) {
            return "calm down";
        }
    }

    private final RunningApp app = RunningApp.start(
            List.of(Others.class, Mails.class, Api.class, Answering.class),
            "ratelimit.policies.failures.limit=2/hour",
            "ratelimit.policies.failures.free=2xx",
            "ratelimit.policies.failures.match.paths=/session");

    @AfterEach
    void stop() {
        app.close();
    }

    @Test
    void call_isChargedToThePrincipalOfALaterFilter() {
        assertThat(app.get("/mails", "X-User: alice").status()).isEqualTo(200);
        assertThat(app.get("/mails", "X-User: alice").status()).isEqualTo(429);
        assertThat(app.get("/mails", "X-User: bob").status()).isEqualTo(200);
    }

    @Test
    void refusalOfACall_isNoErrorOfTheApplication() {
        assertThat(app.get("/now").status()).isEqualTo(200);
        assertThat(app.get("/now").status()).isEqualTo(429);
        assertThat(app.get("/now").header("Retry-After")).isNotNull();
    }

    @Test
    void handlerOfRefusals_withoutAStatus_answersWithThatOfTheRefusal() {
        assertThat(app.get("/answered").status()).isEqualTo(200);

        RawResponse refused = app.get("/answered");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("RateLimit")).contains("r=0");
        assertThat(refused.body()).isEqualTo("calm down");
    }

    /** What is sent is an error, because the session cannot be saved when the response is committed. */
    @Test
    void answerThatCannotBeCommitted_isNotFree() {
        assertThat(app.get("/session").status()).isEqualTo(500);
        assertThat(app.get("/session").status()).isEqualTo(500);
        assertThat(app.get("/session").status()).isEqualTo(429);
    }
}
