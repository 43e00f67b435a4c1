package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.Charge;
import dev.ratelimit.Faults;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.WebResponse;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.test.FakeTicker;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Every call that the rules make, to a bean of the application, a store, a clock, a scheduler, or the web stack, fails once.
 * Afterwards no permits are held, nobody waits, nothing is charged twice, and the next requests are limited as ever.
 */
class RequestFaultsTest {

    private static final RateLimitProperties PROPERTIES = new Binder(new MapConfigurationPropertySource(Map.ofEntries(
                    Map.entry("ratelimit.policies.slots.concurrency", "2"),
                    Map.entry("ratelimit.policies.slots.key", "header:X-Key"),
                    Map.entry("ratelimit.policies.failures.limit", "10/hour"),
                    Map.entry("ratelimit.policies.failures.key", "query:q"),
                    Map.entry("ratelimit.policies.failures.free", "2xx"),
                    Map.entry("ratelimit.policies.tried.limit", "1/hour"),
                    Map.entry("ratelimit.policies.tried.mode", "shadow"),
                    Map.entry("ratelimit.policies.plans.key", "bean:tenant"),
                    Map.entry("ratelimit.policies.plans.plan-resolver", "plans"),
                    Map.entry("ratelimit.policies.plans.plans.default", "10/hour"),
                    Map.entry("ratelimit.policies.late-slots.concurrency", "2"),
                    Map.entry("ratelimit.policies.late-slots.key", "user"),
                    Map.entry("ratelimit.policies.tokens.limit", "100/hour"),
                    Map.entry("ratelimit.policies.tokens.key", "user"),
                    Map.entry("ratelimit.policies.tokens.permits", "#request.contentLengthLong"),
                    Map.entry("ratelimit.policies.few.limit", "1/hour"),
                    Map.entry("ratelimit.policies.few.key", "header:X-Few"),
                    Map.entry("ratelimit.policies.few.missing-key", "skip"),
                    Map.entry("ratelimit.policies.few.stage", "after-security"),
                    Map.entry("ratelimit.policies.waits.limit", "1/minute"),
                    Map.entry("ratelimit.policies.waits.key", "header:X-Waits"),
                    Map.entry("ratelimit.policies.waits.missing-key", "skip"),
                    Map.entry("ratelimit.policies.waits.on-exceeded.action", "wait"),
                    Map.entry("ratelimit.policies.waits.on-exceeded.max-wait", "1m"),
                    Map.entry("ratelimit.policies.delays.limit", "1/minute"),
                    Map.entry("ratelimit.policies.delays.key", "header:X-Delays"),
                    Map.entry("ratelimit.policies.delays.missing-key", "skip"),
                    Map.entry("ratelimit.policies.delays.on-exceeded.action", "delay"),
                    Map.entry("ratelimit.policies.delays.on-exceeded.delay", "10s"))))
            .bind("ratelimit", RateLimitProperties.class)
            .get();

    /** A bean whose method is limited. */
    static class Limited {

        static final Method METHOD = ReflectionUtils.getDeclaredMethods(Limited.class)[0];

        @RateLimited(name = "calls", value = "2", algorithm = "concurrency", key = "#a0")
        void call(String name) {}
    }

    /** Rules in a world that may fail, and a web stack that handles requests one after another. */
    private static final class World {

        private final Faults faults;
        private final FakeTicker time = new FakeTicker();
        private final RateLimitStore store =
                InMemoryStore.builder().ticker(time).build();
        private final RequestRules rules;
        private final WaitingRequests waiting;
        private final RequestLimiter limiter;
        private final RequestLimiter before;
        private final RequestLimiter after;

        World(Faults faults) {
            this.faults = faults;
            DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
            beans.registerSingleton("tenant", faults.in(KeyResolver.class, request -> request.header("X-Key")));
            beans.registerSingleton("plans", faults.in(PlanResolver.class, request -> "default"));
            rules = new RequestRules(PROPERTIES, beans, text -> text, limit -> {});
            rules.addCall(Limited.class, Limited.METHOD);
            Endpoint endpoint = Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse("/orders/{id}"));
            rules.enforce(faults.in(EndpointResolver.class, RecordedRequest.leadingTo(endpoint)));
            Ticker ticker = faults.in(Ticker.class, time);
            waiting = new WaitingRequests(
                    rules, faults.in(RateLimitStore.class, store), ticker, faults.in(Scheduler.class, time));
            OutcomeCounter outcomes = faults.in(OutcomeCounter.class, new OutcomeCounter() {
                @Override
                public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {}

                @Override
                public Runnable held(Charge charge) {
                    return faults.in(Runnable.class, () -> {});
                }
            });
            RejectionHandler handler = faults.in(
                    RejectionHandler.class, (request, response, rejection) -> response.write("text/plain", "no"));
            limiter = new RequestLimiter(rules, PROPERTIES, waiting, byEndpoint(outcomes), ticker, handler);
            before = limiter.beforeSecurity();
            after = limiter.afterSecurity();
        }

        /** Counts by endpoint, which is asked for at the start, where a fault concerns no request. */
        private static OutcomeCounter byEndpoint(OutcomeCounter counter) {
            return new OutcomeCounter() {
                @Override
                public boolean readsEndpoints() {
                    return true;
                }

                @Override
                public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
                    counter.count(policy, key, outcome, request);
                }

                @Override
                public void waited(String policy, Outcome outcome, long nanos) {
                    counter.waited(policy, outcome, nanos);
                }

                @Override
                public Runnable held(Charge charge) {
                    return counter.held(charge);
                }
            };
        }

        /** Handles a request, as a filter at each of two stages does, and answers with this status. */
        void handle(RecordedRequest recorded, int status, boolean leaves) {
            WebRequest request = faults.in(WebRequest.class, recorded);
            WebResponse response = faults.in(WebResponse.class, new RecordedResponse());
            try {
                pass(before, null, request, response, leaves, charged -> {
                    recorded.by("alice");
                    pass(after, charged, request, response, leaves, last -> last.settle(List.of(status)));
                });
            } catch (Exception | Error e) {
                // the request is answered with 500
            }
        }

        /** Handles a request at a single stage. */
        void handleAtOnce(RecordedRequest recorded, int status, boolean leaves) {
            WebRequest request = faults.in(WebRequest.class, recorded.by("alice"));
            WebResponse response = faults.in(WebResponse.class, new RecordedResponse());
            try {
                pass(limiter, null, request, response, leaves, charged -> charged.settle(List.of(status)));
            } catch (Exception | Error e) {
                // the request is answered with 500
            }
        }

        /** Calls a limited method, as a proxy does. */
        void call() {
            CallLimiter.Call call =
                    Objects.requireNonNull(limiter.calls().call(Limited.class, Limited.METHOD, new Object[] {"a"}));
            try {
                call.chargeWithin(faults.in(WebRequest.class, request()), null);
            } catch (RuntimeException | Error e) {
                return;
            }
            try {
                call.end();
            } catch (RuntimeException | Error e) {
                // the caller of the method gets it
            }
        }

        private interface Chain {
            void go(ChargedRequest charged) throws Exception;
        }

        private void pass(
                RequestLimiter limiter,
                @Nullable ChargedRequest earlier,
                WebRequest request,
                WebResponse response,
                boolean leaves,
                Chain chain)
                throws Exception {
            ChargedRequest charged = limiter.charge(earlier, request, true);
            if (charged.isWaiting()) {
                await(charged, leaves);
                if (leaves) {
                    return;
                }
                charged = limiter.charge(charged, request, true);
            }
            if (charged.isRefused()) {
                charged.writeRefusal(response);
                return;
            }
            try {
                charged.writeHeaders(response);
                chain.go(charged);
            } finally {
                if (earlier == null) {
                    charged.countAdmitted();
                    charged.release();
                }
            }
        }

        private void await(ChargedRequest charged, boolean leaves) {
            AtomicBoolean over = new AtomicBoolean();
            try {
                charged.whenOver(() -> over.set(true));
                time.advance(Duration.ofSeconds(1));
            } catch (RuntimeException | Error e) {
                charged.leave();
                throw e;
            }
            if (leaves) {
                charged.leave();
                return;
            }
            time.advance(Duration.ofMinutes(1));
            assertThat(over).as("the wait is over").isTrue();
        }

        long left(String policy, String key) {
            Policy limits = rules.inForce().rule(policy).policy();
            return store.peek(List.of(limits.charge(key))).limits().get(0).remaining();
        }

        boolean admits(RecordedRequest request) {
            ChargedRequest charged = before.charge(null, request, false);
            boolean admitted = !charged.isRefused()
                    && !after.charge(charged, request.by("alice"), false).isRefused();
            charged.release();
            return admitted;
        }
    }

    private static RecordedRequest request(String... headers) {
        RecordedRequest request = new RecordedRequest("POST", "/orders/1")
                .with("X-Key", "k")
                .with("Content-Length", "7")
                .withQuery("q=1");
        for (String header : headers) {
            request.with(header, "h");
        }
        return request;
    }

    private interface Scenario {
        void in(World world);
    }

    private static Scenario scenario(Scenario scenario) {
        return scenario;
    }

    static Stream<Arguments> scenarios() {
        return Stream.of(
                        arguments("an admitted request", scenario(world -> world.handle(request(), 200, false))),
                        arguments("a failure", scenario(world -> world.handle(request(), 401, false))),
                        arguments("a refusal by the second stage", scenario(world -> {
                            world.handle(request("X-Few"), 200, false);
                            world.handle(request("X-Few"), 200, false);
                        })),
                        arguments("a wait", scenario(world -> {
                            world.handle(request("X-Waits"), 200, false);
                            world.handle(request("X-Waits"), 200, false);
                        })),
                        arguments("a wait whose client leaves", scenario(world -> {
                            world.handle(request("X-Waits"), 200, false);
                            world.handle(request("X-Waits"), 200, true);
                        })),
                        arguments("a single stage", scenario(world -> world.handleAtOnce(request(), 200, false))),
                        arguments("a wait at a single stage", scenario(world -> {
                            world.handleAtOnce(request("X-Waits"), 200, false);
                            world.handleAtOnce(request("X-Waits"), 200, false);
                        })),
                        arguments("a limited call", scenario(World::call)),
                        arguments("a delayed refusal", scenario(world -> {
                            world.handle(request("X-Delays"), 200, false);
                            world.handle(request("X-Delays"), 200, false);
                        })))
                .flatMap(Faults::ofEachKind);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void anyCallThatFails_leavesNothingBehind(String name, Scenario scenario, Supplier<Throwable> failure) {
        int runs = Faults.inTurn(failure, faults -> {
            World world = new World(faults);

            scenario.in(world);

            faults.end();
            boolean refundLost = "RateLimitStore.refund".equals(faults.failed());
            if (!refundLost) {
                assertThat(world.left("slots", "h1:k")).as("slots").isEqualTo(2);
                assertThat(world.left("late-slots", "u5:alice"))
                        .as("late slots")
                        .isEqualTo(2);
                assertThat(world.left("calls", "x1:a")).as("calls").isEqualTo(2);
            }
            assertThat(world.left("failures", "q1:1")).as("failures").isBetween(8L, 10L);
            assertThat(world.left("plans", "b1:k")).as("plans").isBetween(8L, 10L);
            assertThat(world.left("tokens", "u5:alice")).as("tokens").isBetween(86L, 100L);
            world.time.advance(Duration.ofHours(2));
            assertThat(world.waiting.waiting("waits")).as("waiting").isZero();
            assertThat(world.waiting.waiting("delays")).as("held back").isZero();
            for (String header : List.of("X-Few", "X-Waits", "X-Delays")) {
                assertThat(world.admits(request(header))).as(header).isTrue();
                assertThat(world.admits(request(header))).as(header).isFalse();
            }
        });

        assertThat(runs).as(name).isGreaterThan(2);
    }
}
