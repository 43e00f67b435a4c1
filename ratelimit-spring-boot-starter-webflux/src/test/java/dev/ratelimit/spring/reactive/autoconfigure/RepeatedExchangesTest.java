package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Filters of the application that try a request again: each attempt has its own charge. */
@Tag("servers")
class RepeatedExchangesTest {

    @RestController
    static class Handlers {

        private final AtomicInteger calls = new AtomicInteger();
        private final Sinks.Empty<Void> end = Sinks.empty();

        @GetMapping("/four")
        @RateLimited("4/hour")
        Mono<String> four() {
            return Mono.fromSupplier(() -> "four" + calls.incrementAndGet());
        }

        @GetMapping("/three")
        @RateLimited(policy = "three")
        Mono<String> three() {
            return Mono.fromSupplier(() -> "three" + calls.incrementAndGet());
        }

        @GetMapping("/fails-never")
        @RateLimited(policy = "failures")
        Mono<String> failsNever() {
            return Mono.just("fine");
        }

        @GetMapping("/waits")
        @RateLimited(policy = "queue")
        Mono<String> waits() {
            return Mono.fromSupplier(() -> "waits" + calls.incrementAndGet());
        }

        @GetMapping("/one")
        @RateLimited(value = "1", algorithm = "concurrency", key = "ip")
        Mono<String> one() {
            calls.incrementAndGet();
            return end.asMono().then(Mono.just("one"));
        }
    }

    /** Limits that depend on arguments. */
    @RestController
    static class Named {

        private final Handlers handlers;
        private final ObjectProvider<Named> proxy;

        Named(Handlers handlers, ObjectProvider<Named> proxy) {
            this.handlers = handlers;
            this.proxy = proxy;
        }

        @GetMapping("/three/{id}")
        @RateLimited(value = "3/hour", key = "#id")
        public Mono<String> three(@PathVariable String id) {
            return Mono.fromSupplier(() -> id + handlers.calls.incrementAndGet());
        }

        @GetMapping("/two/{id}")
        @RateLimited(value = "2/hour", key = "#id")
        public Mono<String> two(@PathVariable String id, ServerWebExchange exchange) {
            return failAtFirst(exchange);
        }

        @GetMapping("/alone/{id}")
        @RateLimited(value = "1", algorithm = "concurrency", key = "#id")
        public Mono<String> alone(@PathVariable String id, ServerWebExchange exchange) {
            return failAtFirst(exchange);
        }

        @GetMapping("/calls-itself/{id}")
        @RateLimited(value = "1/hour", key = "#id")
        public Mono<String> callsItself(@PathVariable String id, ServerWebExchange exchange) {
            return id.equals("end")
                    ? Mono.just(id)
                    : failAtFirst(exchange).then(proxy.getObject().callsItself("end", exchange));
        }

        private static Mono<String> failAtFirst(ServerWebExchange exchange) {
            return exchange.getAttributes().put("tried", true) == null
                    ? Mono.error(new IllegalStateException("at first"))
                    : Mono.just("then");
        }
    }

    /** Hands each exchange on twice: what a chain returns is always empty. */
    static class HandsOnTwice implements WebFilter, Ordered {

        @Override
        public int getOrder() {
            return -500;
        }

        @Override
        public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
            return Mono.just("user").flatMap(user -> chain.filter(exchange)).switchIfEmpty(chain.filter(exchange));
        }
    }

    /** Hands some exchanges on twice, and does not wait for the end of the first way. */
    static class HandsOnTwiceAtOnce extends HandsOnTwice {

        @Override
        public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
            return exchange.getRequest().getHeaders().getFirst("X-Twice") == null
                    ? chain.filter(exchange)
                    : Mono.when(chain.filter(exchange), chain.filter(exchange));
        }
    }

    /** Behind the limits. */
    static class HandsOnTwiceBehind extends HandsOnTwice {

        @Override
        public int getOrder() {
            return 100;
        }
    }

    /** Tries again behind the limits what fails. */
    static class TriesAgainBehind implements WebFilter {

        @Override
        public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
            return chain.filter(exchange).retry(1);
        }
    }

    /** Tries again what fails. */
    @Configuration(proxyBeanMethods = false)
    static class TriesAgain {

        @Bean
        @Order(-200)
        WebFilter again() {
            return (exchange, chain) -> chain.filter(exchange).retry(1);
        }
    }

    /** Behind the limits, fails at the first attempt of a request. */
    @Configuration(proxyBeanMethods = false)
    static class FailsAtFirst {

        @Bean
        WebFilter fails() {
            return (exchange, chain) -> exchange.getAttributes().put("tried", true) == null
                    ? Mono.error(new IllegalStateException("at first"))
                    : chain.filter(exchange);
        }
    }

    /** Behind the limits, does not wait for ever, and tries again. */
    @Configuration(proxyBeanMethods = false)
    static class Impatient {

        private final Sinks.Empty<Void> enough = Sinks.empty();

        @Bean
        WebFilter impatient() {
            return (exchange, chain) -> chain.filter(exchange)
                    .timeout(enough.asMono().then(Mono.just("enough")))
                    .onErrorResume(TimeoutException.class, late -> chain.filter(exchange));
        }
    }

    private static RunningApp start(Class<?>... more) {
        return RunningApp.start(
                Stream.concat(Stream.of(Handlers.class), Stream.of(more)).toList(),
                "ratelimit.policies.three.limit=3/hour",
                "ratelimit.policies.three.match.annotated=true",
                "ratelimit.policies.failures.limit=1/hour",
                "ratelimit.policies.failures.free=2xx",
                "ratelimit.policies.failures.match.annotated=true",
                "ratelimit.policies.queue.limit=1/minute",
                "ratelimit.policies.queue.key=ip",
                "ratelimit.policies.queue.match.annotated=true",
                "ratelimit.policies.queue.on-exceeded.action=wait",
                "ratelimit.policies.queue.on-exceeded.max-wait=2m");
    }

    private static List<Integer> fiveTimes(RunningApp app, String path) {
        return IntStream.range(0, 5).mapToObj(i -> app.get(path).status()).toList();
    }

    @ParameterizedTest
    @ValueSource(classes = {FailsAtFirst.class, UncertainEndpointsTest.Mappings.class})
    void attempt_ofAFilterInFront_isCharged(Class<?> more) {
        try (RunningApp app = start(TriesAgain.class, FailsAtFirst.class, more)) {
            List<Integer> statuses = fiveTimes(app, "/four");

            assertThat(statuses.subList(4, 5)).containsExactly(429);
            assertThat(app.bean(Handlers.class).calls).hasValueLessThanOrEqualTo(4);
        }
    }

    @Test
    void attempt_ofAFilterInFront_holdsItsPermit() throws Exception {
        try (RunningApp app = start(TriesAgain.class, FailsAtFirst.class);
                Socket first = app.client().begin("GET /one HTTP/1.1")) {
            Handlers handlers = app.bean(Handlers.class);
            await().until(() -> handlers.calls.get() == 1);

            assertThat(app.get("/one").status()).isEqualTo(429);

            handlers.end.tryEmitEmpty().orThrow();
            assertThat(app.awaitAnswer(first)).isTrue();
            assertThat(app.get("/one").status()).isEqualTo(200);
        }
    }

    static Stream<List<Class<?>>> surroundings() {
        return Stream.of(
                List.of(),
                List.of(UncertainEndpointsTest.Mappings.class),
                List.of(RunningApp.WithSecurity.class, RunningApp.Alice.class, MethodLimitsTest.Open.class));
    }

    /** Two calls and one, and none after that. */
    @ParameterizedTest
    @MethodSource("surroundings")
    void exchange_thatAFilterInFrontHandsOnTwice_isChargedTwice(List<Class<?>> more) {
        List<Class<?>> all = new ArrayList<>(more);
        all.add(HandsOnTwice.class);
        try (RunningApp app = start(all.toArray(Class<?>[]::new))) {
            assertThat(app.get("/three").status()).isEqualTo(200);
            app.awaitCounted("three", "admitted", 2);

            assertThat(fiveTimes(app, "/three")).containsExactly(200, 429, 429, 429, 429);
            app.awaitCounted("three", "refused", 5);
            assertThat(app.counted("three", "admitted")).isEqualTo(3);
            assertThat(app.bean(Handlers.class).calls).hasValue(3);
        }
    }

    @Test
    void exchange_thatIsHandedOnWhenItIsAnswered_isFreeByTheStatusOfItsAnswer() {
        try (RunningApp app = start(HandsOnTwice.class)) {
            assertThat(app.get("/fails-never").status()).isEqualTo(200);
            app.awaitCounted("failures", "admitted", 2);

            await().untilAsserted(
                            () -> assertThat(app.get("/fails-never").status()).isEqualTo(200));
        }
    }

    @Test
    void exchange_thatIsHandedOnWhileItWaits_isNotAdmittedBefore() throws Exception {
        try (RunningApp app = start(HandsOnTwiceAtOnce.class)) {
            assertThat(app.get("/waits").status()).isEqualTo(200);
            try (Socket client = app.client().begin("GET /waits HTTP/1.1", "X-Twice: yes")) {
                await().until(() -> app.bean(WaitingRequests.class).waiting("queue") == 1);

                app.ticker().advance(Duration.ofMinutes(1));
                assertThat(app.awaitAnswer(client)).isTrue();
                app.awaitCounted("queue", "waited", 1);
                assertThat(app.bean(Handlers.class).calls).hasValue(2);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"/three, three", "/three/a, Named.three"})
    void refusal_thatAFilterBehindHandsOn_endsThere(String path, String policy) {
        try (RunningApp app = start(Named.class, HandsOnTwiceBehind.class, UncertainEndpointsTest.Mappings.class)) {
            assertThat(fiveTimes(app, path)).containsExactly(200, 200, 200, 429, 429);

            await().untilAsserted(
                            () -> assertThat(app.bean(Handlers.class).calls).hasValue(6));
            assertThat(app.counted(policy, "refused")).isEqualTo(2);
        }
    }

    @Test
    void attempt_ofAFilterBehind_isNotCharged_byLimitsOfArguments() {
        try (RunningApp app = start(Named.class, TriesAgainBehind.class)) {
            assertThat(fiveTimes(app, "/two/a")).containsExactly(200, 200, 429, 429, 429);
            assertThat(app.get("/alone/a").status()).isEqualTo(200);
        }
    }

    @Test
    void call_ofAHandlerByItself_isCharged() {
        try (RunningApp app = start(Named.class, TriesAgainBehind.class)) {
            assertThat(app.get("/calls-itself/a").status()).isEqualTo(200);
            assertThat(app.get("/calls-itself/end").status()).isEqualTo(429);
        }
    }

    /** Where the endpoint is known in front, nobody behind can end the wait. */
    @Test
    void attempt_afterAWaitThatAFilterHasEnded_isCharged() throws Exception {
        try (RunningApp app = start(Impatient.class, UncertainEndpointsTest.Mappings.class)) {
            WaitingRequests waiting = app.bean(WaitingRequests.class);
            assertThat(app.get("/waits").status()).isEqualTo(200);
            try (Socket client = app.client().begin("GET /waits HTTP/1.1")) {
                await().until(() -> waiting.waiting("queue") == 1);
                app.bean(Impatient.class).enough.tryEmitEmpty().orThrow();

                await().until(() -> waiting.waiting("queue") == 1);
                assertThat(app.bean(Handlers.class).calls).hasValue(1);

                app.ticker().advance(Duration.ofMinutes(2));
                assertThat(app.awaitAnswer(client)).isTrue();
                assertThat(app.bean(Handlers.class).calls).hasValue(2);
            }
        }
    }
}
