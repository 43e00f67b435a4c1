package dev.ratelimit.spring.reactive.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.Faults;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.reactive.endpoint.Endpoints;
import dev.ratelimit.spring.reactive.request.FactsFetcher;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.test.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.cglib.proxy.Enhancer;
import org.springframework.cglib.proxy.MethodInterceptor;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.adapter.DefaultServerWebExchange;
import org.springframework.web.server.handler.DefaultWebFilterChain;
import org.springframework.web.server.i18n.AcceptHeaderLocaleContextResolver;
import org.springframework.web.server.session.DefaultWebSessionManager;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Every call that the filters make, to the server, a store or a scheduler, fails once. Afterwards no permits are held,
 * nobody waits, each request is answered, and the next ones are limited as ever.
 */
@Tag("slow")
class WebFilterFaultsTest {

    private static final RateLimitProperties PROPERTIES = new Binder(new MapConfigurationPropertySource(Map.ofEntries(
                    Map.entry("ratelimit.policies.slots.concurrency", "2"),
                    Map.entry("ratelimit.policies.slots.key", "header:X-Key"),
                    Map.entry("ratelimit.policies.late-slots.concurrency", "2"),
                    Map.entry("ratelimit.policies.late-slots.key", "user"),
                    Map.entry("ratelimit.policies.failures.limit", "10/hour"),
                    Map.entry("ratelimit.policies.failures.key", "header:X-Key"),
                    Map.entry("ratelimit.policies.failures.free", "2xx"),
                    Map.entry("ratelimit.policies.few.limit", "1/hour"),
                    Map.entry("ratelimit.policies.few.key", "header:X-Few"),
                    Map.entry("ratelimit.policies.few.missing-key", "skip"),
                    Map.entry("ratelimit.policies.few.stage", "after-security"),
                    Map.entry("ratelimit.policies.early.limit", "1/minute"),
                    Map.entry("ratelimit.policies.early.key", "header:X-Early"),
                    Map.entry("ratelimit.policies.early.missing-key", "skip"),
                    Map.entry("ratelimit.policies.early.on-exceeded.action", "wait"),
                    Map.entry("ratelimit.policies.early.on-exceeded.max-wait", "1m"),
                    Map.entry("ratelimit.policies.late.limit", "1/minute"),
                    Map.entry("ratelimit.policies.late.key", "header:X-Late"),
                    Map.entry("ratelimit.policies.late.missing-key", "skip"),
                    Map.entry("ratelimit.policies.late.stage", "after-security"),
                    Map.entry("ratelimit.policies.late.on-exceeded.action", "wait"),
                    Map.entry("ratelimit.policies.late.on-exceeded.max-wait", "1m"))))
            .bind("ratelimit", RateLimitProperties.class)
            .get();

    /** A server with the filters, whose requests and responses may fail. */
    private static final class Server {

        private final Faults faults;
        private final FakeTicker time = new FakeTicker();
        private final RateLimitStore store =
                InMemoryStore.builder().ticker(time).build();
        private final WaitingRequests waiting;
        private final List<WebFilter> filters;

        Server(Faults faults) {
            this.faults = faults;
            DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
            RequestRules rules = new RequestRules(PROPERTIES, beans, text -> text, limit -> {});
            Endpoints endpoints = new Endpoints(List.of(), (endpoint, handler) -> false, () -> false, time);
            rules.enforce(endpoints);
            waiting = new WaitingRequests(
                    rules, faults.in(RateLimitStore.class, store), time, faults.in(Scheduler.class, time));
            RequestLimiter limiter =
                    new RequestLimiter(rules, PROPERTIES, waiting, (policy, key, outcome, request) -> {}, time, null);
            RateLimitFilters stages = new RateLimitFilters(
                    limiter,
                    () -> endpoints,
                    new FactsFetcher(new DefaultWebSessionManager(), beans),
                    new StaticApplicationContext(),
                    List::of,
                    new RequestRecording(time, 100, 1));
            filters = List.of(
                    stages.beforeSecurity(-110),
                    (exchange, chain) -> chain.filter(exchange.mutate()
                            .principal(Mono.just(() -> "alice"))
                            .build()),
                    stages.afterSecurity(-90));
        }

        /** A request and its response in this server. */
        private final class Exchange {

            private final MockServerHttpResponse response = new MockServerHttpResponse();
            private final ServerWebExchange exchange;
            private final Function<ServerWebExchange, Mono<Void>> handler;
            private boolean answered;

            Exchange(Function<ServerWebExchange, Mono<Void>> handler, String... headers) {
                this.handler = handler;
                MockServerHttpRequest.BaseBuilder<?> request =
                        MockServerHttpRequest.get("/orders/1").header("X-Key", "k");
                for (String header : headers) {
                    request.header(header, "h");
                }
                ServerHttpRequest asked = request.build();
                exchange = new DefaultServerWebExchange(
                                asked,
                                response,
                                new DefaultWebSessionManager(),
                                ServerCodecConfigurer.create(),
                                new AcceptHeaderLocaleContextResolver())
                        .mutate()
                        .request(faulty(ServerHttpRequestDecorator.class, ServerHttpRequest.class, asked))
                        .response(faulty(ServerHttpResponseDecorator.class, ServerHttpResponse.class, response))
                        .build();
            }

            /** What a server does: it answers failures, and completes the response. */
            Disposable begin() {
                return new DefaultWebFilterChain(handler::apply, filters)
                        .filter(exchange)
                        .onErrorResume(failure -> {
                            response.setStatusCode(HttpStatus.INTERNAL_SERVER_ERROR);
                            return Mono.empty();
                        })
                        .then(Mono.defer(response::setComplete))
                        .subscribe(any -> {}, failure -> answered = true, () -> answered = true);
            }
        }

        Exchange exchange(Function<ServerWebExchange, Mono<Void>> handler, String... headers) {
            return new Exchange(handler, headers);
        }

        private <T> T faulty(Class<? extends T> decorator, Class<T> type, T decorated) {
            Enhancer enhancer = new Enhancer();
            enhancer.setSuperclass(decorator);
            Set<String> own = Set.of("getDelegate", "hashCode", "equals", "toString");
            enhancer.setCallback((MethodInterceptor) (self, method, arguments, original) -> {
                String name = type.getSimpleName() + "." + method.getName();
                if (!own.contains(method.getName())) {
                    faults.call(name);
                }
                Object result = original.invokeSuper(self, arguments);
                return result instanceof Mono<?> later
                        ? Mono.defer(() -> {
                            faults.call(name + ", later");
                            return later;
                        })
                        : result;
            });
            return type.cast(enhancer.create(new Class<?>[] {type}, new Object[] {decorated}));
        }

        long left(String policy, String key) {
            Policy limits = Policy.of(policy, Concurrency.of(2));
            return store.peek(List.of(limits.charge(key))).limits().get(0).remaining();
        }

        int status(String... headers) {
            Exchange exchange = exchange(same -> Mono.empty(), headers);
            Disposable ignored = exchange.begin();
            if (!exchange.answered) {
                return 0;
            }
            return exchange.response.getStatusCode() == null
                    ? 200
                    : exchange.response.getStatusCode().value();
        }
    }

    private interface Scenario {
        void in(Server server);
    }

    private static Scenario scenario(Scenario scenario) {
        return scenario;
    }

    private static Mono<Void> answer(ServerWebExchange exchange) {
        return exchange.getResponse()
                .writeWith(Mono.fromSupplier(
                        () -> exchange.getResponse().bufferFactory().wrap("answer".getBytes(StandardCharsets.UTF_8))));
    }

    private static Mono<Void> fail(ServerWebExchange exchange) {
        exchange.getResponse().setStatusCode(HttpStatus.UNAUTHORIZED);
        return exchange.getResponse().setComplete();
    }

    private static void ask(
            Server server, int times, Function<ServerWebExchange, Mono<Void>> handler, String... headers) {
        for (int i = 0; i < times; i++) {
            Server.Exchange exchange = server.exchange(handler, headers);
            Disposable ignored = exchange.begin();
            assertThat(exchange.answered).as("answered").isTrue();
        }
    }

    /** A request for which there is no permit, and whose wait ends after a minute unless its client leaves. */
    private static void await(Server server, String header, boolean leaves) {
        Disposable first = server.exchange(WebFilterFaultsTest::answer, header).begin();
        Server.Exchange second = server.exchange(WebFilterFaultsTest::answer, header);
        Disposable waiting = second.begin();
        if (leaves) {
            waiting.dispose();
        }
        server.time.advance(Duration.ofMinutes(1));
        assertThat(leaves || second.answered).as("the second is answered").isTrue();
        assertThat(first.isDisposed()).isTrue();
    }

    /** The handler answers later, unless the client leaves before. */
    private static void answerLater(Server server, boolean leaves) {
        Sinks.Empty<Void> later = Sinks.empty();
        Server.Exchange exchange =
                server.exchange(same -> later.asMono().then(Mono.defer(() -> WebFilterFaultsTest.answer(same))));
        Disposable asked = exchange.begin();
        if (leaves) {
            asked.dispose();
        } else {
            Sinks.EmitResult ignored = later.tryEmitEmpty();
            assertThat(exchange.answered).isTrue();
        }
    }

    static Stream<Arguments> scenarios() {
        List<Arguments> scenarios = List.of(
                arguments("an answer", scenario(server -> ask(server, 1, WebFilterFaultsTest::answer))),
                arguments("a failure", scenario(server -> ask(server, 1, WebFilterFaultsTest::fail))),
                arguments(
                        "an exception",
                        scenario(server ->
                                ask(server, 1, exchange -> Mono.error(new IllegalStateException("handler"))))),
                arguments("a refusal by the second stage", scenario(server -> {
                    ask(server, 2, WebFilterFaultsTest::answer, "X-Few");
                })),
                arguments("an answer that comes later", scenario(server -> answerLater(server, false))),
                arguments("a client that leaves", scenario(server -> answerLater(server, true))),
                arguments("a wait before security", scenario(server -> await(server, "X-Early", false))),
                arguments("a wait after security", scenario(server -> await(server, "X-Late", false))),
                arguments("a wait that is given up", scenario(server -> await(server, "X-Late", true))));
        return scenarios.stream().flatMap(Faults::ofEachKind);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void anyCallThatFails_leavesNothingBehind(String name, Scenario scenario, Supplier<Throwable> failure) {
        int runs = Faults.inTurn(failure, faults -> {
            Server server = new Server(faults);

            scenario.in(server);

            faults.end();
            if (!"RateLimitStore.refundAsync".equals(faults.failed())) {
                assertThat(server.left("slots", "h1:k")).as("slots").isEqualTo(2);
                assertThat(server.left("late-slots", "u5:alice"))
                        .as("late slots")
                        .isEqualTo(2);
            }
            server.time.advance(Duration.ofHours(2));
            assertThat(server.waiting.waiting("early")).as("waiting early").isZero();
            assertThat(server.waiting.waiting("late")).as("waiting late").isZero();
            for (String header : List.of("X-Few", "X-Early", "X-Late")) {
                assertThat(server.status(header)).as(header).isEqualTo(200);
            }
            assertThat(server.status("X-Few")).as("once more").isEqualTo(429);
            assertThat(server.status("X-Early")).as("waits").isZero();
            assertThat(server.status("X-Late")).as("waits").isZero();
            assertThat(server.waiting.waiting("early")).isEqualTo(1);
            assertThat(server.waiting.waiting("late")).isEqualTo(1);
        });

        assertThat(runs).as(name).isGreaterThan(15);
    }
}
