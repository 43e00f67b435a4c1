package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.stereotype.Service;
import org.springframework.test.util.AopTestUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;

/** Calls of methods that return a Mono or a Flux are charged when somebody subscribes. */
@Tag("servers")
class MethodLimitsTest {

    /** What describes the answer that a handler would have given. */
    private static final List<String> CONTENT = List.of(
            "Content-Disposition",
            "Content-Encoding",
            "Content-Language",
            "Content-Location",
            "Content-Range",
            "ETag",
            "Last-Modified");

    @Service
    static class Mails {

        private final AtomicInteger sent = new AtomicInteger();
        private final Sinks.One<String> held = Sinks.one();
        private final CountDownLatch started = new CountDownLatch(1);
        private final List<SignalType> endings = new CopyOnWriteArrayList<>();

        List<SignalType> endings() {
            return endings;
        }

        @RateLimited(value = "1/minute", key = "user")
        public Mono<Integer> send() {
            return Mono.fromSupplier(sent::incrementAndGet);
        }

        @RateLimited("2/minute")
        public Flux<Integer> all() {
            return Flux.just(1, 2);
        }

        @RateLimited(value = "1/minute", key = "#to")
        public Mono<String> to(String to) {
            return Mono.just(to);
        }

        @RateLimited(value = "1/minute", fallback = "later")
        public Mono<String> orLater() {
            return Mono.just("now").doFinally(endings::add);
        }

        public Mono<String> later() {
            return Mono.just("later");
        }

        @RateLimited(policy = "holding")
        public Mono<String> hold() {
            return held.asMono().doOnSubscribe(subscription -> started.countDown());
        }

        @RateLimited("1/minute")
        public int now() {
            return sent.incrementAndGet();
        }
    }

    @RestController
    static class Api {

        private final Mails mails;

        Api(Mails mails) {
            this.mails = mails;
        }

        @GetMapping("/mails")
        Mono<String> mails() {
            return mails.send().map(String::valueOf);
        }

        @GetMapping("/packed")
        Mono<String> packed(ServerHttpResponse response) {
            CONTENT.forEach(name -> response.getHeaders().set(name, "packed"));
            return mails.send().map(String::valueOf);
        }

        @GetMapping("/hold")
        Mono<String> hold() {
            return mails.hold();
        }

        @RateLimited(value = "1/minute", key = "#name")
        @GetMapping("/named/{name}")
        public Mono<String> named(@PathVariable String name) {
            return Mono.just(name);
        }

        @RateLimited(policy = "tokens", cost = "#name.length()")
        @GetMapping("/tokens/{name}")
        public Mono<String> tokens(@PathVariable String name, Reservation reservation) {
            reservation.settle(1);
            return Mono.just(name);
        }
    }

    /** Turns all exceptions into errors, which refusals are not. */
    @RestControllerAdvice
    static class Errors {

        @ExceptionHandler
        String any(Exception any) {
            return "error";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Open {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(all -> all.anyExchange().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    private final RunningApp app = RunningApp.start(
            List.of(
                    Mails.class,
                    Api.class,
                    Errors.class,
                    Open.class,
                    RunningApp.Alice.class,
                    RunningApp.WithSecurity.class),
            "ratelimit.policies.holding.concurrency=1",
            "ratelimit.policies.holding.match.annotated=true",
            "ratelimit.policies.tokens.limit=10/minute",
            "ratelimit.policies.tokens.match.annotated=true");

    private final Mails mails = app.bean(Mails.class);
    private final Mails target = AopTestUtils.getTargetObject(mails);

    @AfterEach
    void stop() {
        app.close();
    }

    @Test
    void methodThatReturnsAMono_isCompleted_notCancelled() {
        // a proxy has fields of its own
        Mails target = AopTestUtils.getTargetObject(mails);

        assertThat(mails.orLater().block()).isEqualTo("now");

        assertThat(target.endings()).containsExactly(SignalType.ON_COMPLETE);
    }

    @Test
    void call_isChargedAtEachSubscription() {
        Flux<Integer> all = mails.all();

        assertThat(all.collectList().block()).containsExactly(1, 2);
        assertThat(all.collectList().block()).containsExactly(1, 2);
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(all::blockLast);

        app.ticker().advance(Duration.ofMinutes(1));
        assertThat(all.collectList().block()).containsExactly(1, 2);
    }

    @Test
    void refusal_hasNoHeadersOfTheContentThatItReplaces() {
        app.get("/mails");

        RawResponse refused = app.get("/packed");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(CONTENT).allSatisfy(name -> assertThat(refused.header(name)).isNull());
    }

    @Test
    void call_whoseResultNobodySubscribesTo_isNotCharged() {
        Mono<Integer> unused = mails.send();
        Mono<Integer> other = mails.send();

        assertThat(other.block()).isEqualTo(1);
        assertThatThrownBy(unused::block).isInstanceOf(RateLimitExceededException.class);
        assertThat(target.sent).hasValue(1);
    }

    @Test
    void arguments_areKeys() {
        assertThat(mails.to("a").block()).isEqualTo("a");
        assertThat(mails.to("b").block()).isEqualTo("b");
        assertThatThrownBy(() -> mails.to("a").block()).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void fallback_replacesARefusedCall() {
        assertThat(mails.orLater().block()).isEqualTo("now");
        assertThat(mails.orLater().block()).isEqualTo("later");
    }

    @Test
    void caller_isTheUserOfTheExchange_andARefusalIsNoError() {
        assertThat(app.getAs("alice", "/mails").status()).isEqualTo(200);
        assertThat(app.getAs("alice", "/mails").status()).isEqualTo(429);
        assertThat(app.getAs("alice", "/mails").header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(app.get("/mails").status()).isEqualTo(200);
    }

    @Test
    void heldPermit_comesBackWhenTheClientLeaves() throws Exception {
        try (Socket client = app.client().begin("GET /hold HTTP/1.1")) {
            assertThat(target.started.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(app.get("/hold").status()).isEqualTo(429);
            client.setSoLinger(true, 0);
        }
        target.held.tryEmitValue("free");

        await().untilAsserted(() -> assertThat(app.get("/hold").status()).isEqualTo(200));
    }

    @Test
    void heldPermit_comesBackWhenTheCallIsCancelled() {
        Disposable call = mails.hold().subscribe();
        assertThatThrownBy(() -> mails.hold().block()).isInstanceOf(RateLimitExceededException.class);

        call.dispose();

        target.held.tryEmitValue("free");
        assertThat(mails.hold().block()).isEqualTo("free");
    }

    @Test
    void handler_withLimitsOfItsArguments_isChargedWithThem() {
        assertThat(app.get("/named/a").status()).isEqualTo(200);
        assertThat(app.get("/named/a").status()).isEqualTo(429);
        assertThat(app.get("/named/b").status()).isEqualTo(200);
    }

    @Test
    void reservation_ofACallThatCostsMore_isSettled() {
        assertThat(app.get("/tokens/12345").status()).isEqualTo(200);
        assertThat(app.get("/tokens/123456789").status()).isEqualTo(200);
        assertThat(app.get("/tokens/123456789").status()).isEqualTo(429);
    }

    @Test
    void methods_thatReturnAtOnce_areChargedAtOnce() {
        assertThat(mails.now()).isEqualTo(1);
        assertThatThrownBy(mails::now).isInstanceOf(RateLimitExceededException.class);
    }
}
