package dev.ratelimit.spring.autoconfigure;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.Faults;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.servlet.filter.CorsHeaders;
import dev.ratelimit.spring.servlet.filter.OutermostFilter;
import dev.ratelimit.spring.servlet.filter.RateLimitFilter;
import dev.ratelimit.spring.servlet.filter.RateLimitFilters;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.KeptForm;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.test.FakeTicker;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.cglib.proxy.Enhancer;
import org.springframework.cglib.proxy.MethodInterceptor;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/**
 * Every call that the filters make, to the server, a store or a scheduler, fails once. Afterwards no permits are held,
 * nobody waits, each request is answered, and the next ones are limited as ever.
 */
@Tag("slow")
class FilterFaultsTest {

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

    private static final EndpointResolver NO_ENDPOINTS = new EndpointResolver() {
        @Override
        public Endpoint resolve(WebRequest request) {
            return Endpoint.NOWHERE;
        }

        @Override
        public boolean mayLeadToAnnotated(WebRequest request) {
            return false;
        }
    };

    /** A server with the filters, whose requests, responses and asynchronous contexts may fail. */
    private static final class Server {

        private final Faults faults;
        private final FakeTicker time = new FakeTicker();
        private final RateLimitStore store =
                InMemoryStore.builder().ticker(time).build();
        private final WaitingRequests waiting;
        private final List<Filter> filters;

        Server(Faults faults) {
            this.faults = faults;
            RequestRules rules =
                    new RequestRules(PROPERTIES, new DefaultListableBeanFactory(), text -> text, limit -> {});
            rules.enforce(NO_ENDPOINTS);
            waiting = new WaitingRequests(
                    rules, faults.in(RateLimitStore.class, store), time, faults.in(Scheduler.class, time));
            RequestLimiter limiter =
                    new RequestLimiter(rules, PROPERTIES, waiting, (policy, key, outcome, request) -> {}, time, null);
            ServletPaths paths = new ServletPaths(new Dispatchers());
            CorsHeaders cors = new CorsHeaders(List::of, List.of());
            filters = List.of(
                    new OutermostFilter(
                            new RateLimitFilters(limiter, paths, List::of),
                            new KeptForm.Limits(1_000, 10),
                            new RequestRecording(time, 100, 1),
                            true,
                            false),
                    new RateLimitFilter("early", limiter.beforeSecurity(), paths, cors),
                    Server::authenticate,
                    new RateLimitFilter("late", limiter.afterSecurity(), paths, cors));
        }

        /** Wraps the request on every dispatch, as Spring Security does. */
        private static void authenticate(ServletRequest request, ServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            chain.doFilter(
                    new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public java.security.Principal getUserPrincipal() {
                            return () -> "alice";
                        }
                    },
                    response);
        }

        /** A request and its response in this server. */
        private final class Exchange {

            private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders/1");
            private final MockHttpServletResponse response = new MockHttpServletResponse();
            private final Handler handler;

            Exchange(Handler handler, String... headers) {
                this.handler = handler;
                request.setAsyncSupported(true);
                request.addHeader("X-Key", "k");
                for (String header : headers) {
                    request.addHeader(header, "h");
                }
            }

            void begin() {
                dispatch(DispatcherType.REQUEST, faulty(request), faulty(response));
                goOn(null);
            }

            /** Whether the server has completed the request. */
            boolean isAnswered() {
                return !request.isAsyncStarted();
            }

            private void dispatch(DispatcherType type, ServletRequest asked, ServletResponse answer) {
                request.setDispatcherType(type);
                request.setAsyncStarted(false);
                try {
                    pass(0, asked, answer);
                } catch (Exception | Error e) {
                    response.setStatus(500);
                }
            }

            /** What a server does after a dispatch: it tells listeners, and waits for the next one. */
            private void goOn(@Nullable MockAsyncContext before) {
                MockAsyncContext now = request.isAsyncStarted() ? (MockAsyncContext) request.getAsyncContext() : null;
                if (now == null && before != null) {
                    complete(before);
                }
                if (now != null && before != null) {
                    tell(before, listener -> listener.onStartAsync(new AsyncEvent(now)));
                }
                if (now != null) {
                    now.addDispatchHandler(() -> {
                        dispatch(DispatcherType.ASYNC, now.getRequest(), requireNonNull(now.getResponse()));
                        goOn(now);
                    });
                }
            }

            /** Completes the request, for the handler or because the client is gone. */
            void complete() {
                if (request.getAsyncContext() instanceof MockAsyncContext context) {
                    complete(context);
                }
            }

            private void complete(MockAsyncContext context) {
                request.setAsyncStarted(false);
                tell(context, listener -> listener.onComplete(new AsyncEvent(context)));
            }

            private void tell(MockAsyncContext context, Telling telling) {
                for (AsyncListener listener : context.getListeners()) {
                    try {
                        telling.tell(listener);
                    } catch (IOException | RuntimeException | Error e) {
                        // servers log it, and tell the others
                    }
                }
            }

            private void pass(int index, ServletRequest asked, ServletResponse answer)
                    throws ServletException, IOException {
                if (index == filters.size()) {
                    handler.handle((HttpServletRequest) asked, (HttpServletResponse) answer);
                    return;
                }
                filters.get(index).doFilter(asked, answer, (next, to) -> pass(index + 1, next, to));
            }
        }

        private interface Telling {
            void tell(AsyncListener listener) throws IOException;
        }

        private interface Handler {
            void handle(HttpServletRequest request, HttpServletResponse response) throws IOException;
        }

        Exchange exchange(Handler handler, String... headers) {
            return new Exchange(handler, headers);
        }

        private HttpServletRequest faulty(HttpServletRequest request) {
            return (HttpServletRequest)
                    faulty(HttpServletRequestWrapper.class, HttpServletRequest.class, request, "Request");
        }

        private HttpServletResponse faulty(HttpServletResponse response) {
            return (HttpServletResponse)
                    faulty(HttpServletResponseWrapper.class, HttpServletResponse.class, response, "Response");
        }

        /** A wrapper, because a server looks for its own request within wrappers. */
        private Object faulty(Class<?> wrapper, Class<?> type, Object wrapped, String name) {
            Enhancer enhancer = new Enhancer();
            enhancer.setSuperclass(wrapper);
            Set<String> own = Set.of("getRequest", "setRequest", "getResponse", "setResponse", "hashCode", "equals");
            enhancer.setCallback((MethodInterceptor) (self, method, arguments, original) -> {
                if (!own.contains(method.getName())) {
                    faults.call(name + "." + method.getName());
                }
                Object result = original.invokeSuper(self, arguments);
                return result instanceof AsyncContext context ? faults.in(AsyncContext.class, context) : result;
            });
            return enhancer.create(new Class<?>[] {type}, new Object[] {wrapped});
        }

        long left(String policy, String key) {
            Policy limits = Policy.of(policy, Concurrency.of(2));
            return store.peek(List.of(limits.charge(key))).limits().get(0).remaining();
        }

        int status(String... headers) {
            Exchange exchange = exchange((request, response) -> {}, headers);
            exchange.begin();
            return exchange.isAnswered() ? exchange.response.getStatus() : 0;
        }
    }

    private interface Scenario {
        void in(Server server);
    }

    private static Scenario scenario(Scenario scenario) {
        return scenario;
    }

    private static void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().write("answer");
    }

    /** A request for which there is no permit, and whose wait ends after a minute unless its client leaves. */
    private static void await(Server server, String header, boolean leaves) {
        server.exchange(FilterFaultsTest::answer, header).begin();
        Server.Exchange second = server.exchange(FilterFaultsTest::answer, header);
        second.begin();
        if (leaves && second.request.isAsyncStarted()) {
            second.complete();
        }
        server.time.advance(Duration.ofMinutes(1));
        assertThat(second.isAnswered()).as("the second is answered").isTrue();
    }

    /** The handler answers later, or never. */
    private static void answerLater(Server server, boolean ever) {
        Server.Exchange exchange = server.exchange((request, response) -> request.startAsync(request, response));
        exchange.begin();
        if (exchange.request.isAsyncStarted() && ever) {
            exchange.response.setStatus(204);
        }
        exchange.complete();
    }

    static Stream<Arguments> scenarios() {
        List<Arguments> scenarios = List.of(
                arguments(
                        "an answer",
                        scenario(server ->
                                server.exchange(FilterFaultsTest::answer).begin())),
                arguments(
                        "a failure",
                        scenario(server -> server.exchange((request, response) -> response.sendError(401))
                                .begin())),
                arguments(
                        "an exception",
                        scenario(server -> server.exchange((request, response) -> {
                                    throw new IllegalStateException("handler");
                                })
                                .begin())),
                arguments("a refusal by the second stage", scenario(server -> {
                    server.exchange(FilterFaultsTest::answer, "X-Few").begin();
                    server.exchange(FilterFaultsTest::answer, "X-Few").begin();
                })),
                arguments("an answer that comes later", scenario(server -> answerLater(server, true))),
                arguments("a request that the server ends", scenario(server -> answerLater(server, false))),
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
            if (!"RateLimitStore.refund".equals(faults.failed())) {
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

        assertThat(runs).as(name).isGreaterThan(20);
    }
}
