package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.ratelimit.FailingScheduler;
import dev.ratelimit.Scheduler;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Nobody waits for ever, whenever the application stops and whatever fails. */
@ExtendWith(OutputCaptureExtension.class)
class WaitingRequestsTest {

    private final FakeTicker ticker = new FakeTicker();
    private final FailingScheduler failing = new FailingScheduler(ticker, Runnable::run);

    private static RateLimitProperties properties(String action) {
        return new Binder(new MapConfigurationPropertySource(Map.of(
                        "ratelimit.policies.one.limit",
                        "1/hour",
                        "ratelimit.policies.one.on-exceeded.action",
                        action,
                        "ratelimit.policies.one.on-exceeded." + (action.equals("wait") ? "max-wait" : "delay"),
                        "1h",
                        "ratelimit.policies.one.on-exceeded." + (action.equals("wait") ? "queue" : "delayed"),
                        "1000")))
                .bind("ratelimit", RateLimitProperties.class)
                .get();
    }

    /** One request per hour; what happens to the others depends on this action. */
    private final class Limits implements AutoCloseable {

        private final WaitingRequests waiting;
        private final RequestLimiter limiter;
        private final List<String> waits = new ArrayList<>();

        private final OutcomeCounter counter = new OutcomeCounter() {
            @Override
            public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
                // not the subject here
            }

            @Override
            public void waited(String policy, Outcome outcome, long nanos) {
                waits.add(policy + " " + outcome + " " + nanos);
            }
        };

        Limits(String action, Scheduler scheduler) {
            this(properties(action), scheduler);
        }

        Limits(RateLimitProperties properties, Scheduler scheduler) {
            RequestRules rules =
                    new RequestRules(properties, new DefaultListableBeanFactory(), text -> text, limit -> {});
            rules.enforce(RecordedRequest.leadingTo(Endpoint.UNMAPPED));
            waiting = new WaitingRequests(
                    rules, InMemoryStore.builder().ticker(ticker).build(), ticker, scheduler);
            limiter = new RequestLimiter(rules, properties, waiting, counter, ticker, null);
            assertThat(ask().isRefused()).isFalse();
        }

        ChargedRequest ask() {
            return limiter.charge(null, new RecordedRequest("GET", "/"), true);
        }

        ChargedRequest askAgain(ChargedRequest after) {
            return limiter.charge(after, new RecordedRequest("GET", "/"), true);
        }

        @Override
        public void close() {
            waiting.close();
        }
    }

    @Test
    void alarmThatFails_holdsNothingBack() {
        try (Limits limits = new Limits("delay", failing)) {
            failing.failAlarms();

            assertThatIllegalStateException().isThrownBy(limits::ask).withMessage("no alarms");
            assertThat(limits.waiting.waiting("one")).isZero();
        }
    }

    @Test
    void shadowThatIsExhausted_hasNoSayInWhoWaits() {
        RateLimitProperties properties = new Binder(new MapConfigurationPropertySource(Map.of(
                        "ratelimit.policies.one.limit", "1/hour",
                        "ratelimit.policies.one.on-exceeded.action", "wait",
                        "ratelimit.policies.one.on-exceeded.max-wait", "1h",
                        "ratelimit.policies.tight.limit", "1/day",
                        "ratelimit.policies.tight.mode", "shadow")))
                .bind("ratelimit", RateLimitProperties.class)
                .get();
        try (Limits limits = new Limits(properties, ticker)) {
            ChargedRequest waiting = limits.ask();
            assertThat(waiting.isWaiting()).isTrue();

            ticker.advance(Duration.ofHours(1));

            assertThat(limits.askAgain(waiting).isRefused()).isFalse();
        }
    }

    @Test
    void executorThatFails_sendsTheRefusalAllTheSame() {
        try (Limits limits = new Limits("delay", failing)) {
            AtomicInteger sent = new AtomicInteger();
            limits.ask().whenOver(sent::incrementAndGet);

            failing.failExecutor();
            ticker.advance(Duration.ofHours(1));

            assertThat(sent).hasValue(1);
            assertThat(limits.waiting.waiting("one")).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"wait", "delay"})
    void afterClose_nobodyWaits(String action) {
        try (Limits limits = new Limits(action, ticker)) {
            ChargedRequest before = limits.ask();
            AtomicInteger over = new AtomicInteger();
            before.whenOver(over::incrementAndGet);

            limits.waiting.close();

            assertThat(over).hasValue(1);
            ChargedRequest after = limits.ask();
            assertThat(after.isWaiting()).isFalse();
            assertThat(after.isRefused()).isTrue();
            limits.waiting.open();
            assertThat(limits.ask().isWaiting()).isTrue();
        }
    }

    /** Requests that come while the application stops wait or do not, but all who waited are told that it is over. */
    @ParameterizedTest
    @ValueSource(strings = {"wait", "delay"})
    void closeAmongRequests_leavesNobodyWaiting(String action) throws Exception {
        RateLimitProperties properties = properties(action);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 500; round++) {
                AtomicInteger parked = new AtomicInteger();
                AtomicInteger over = new AtomicInteger();
                try (Limits limits = new Limits(properties, ticker)) {
                    CountDownLatch begun = new CountDownLatch(1);
                    Future<?> asking = threads.submit(() -> {
                        for (int i = 0; i < 50; i++) {
                            ChargedRequest request = limits.ask();
                            if (request.isWaiting()) {
                                parked.incrementAndGet();
                                request.whenOver(over::incrementAndGet);
                            }
                            begun.countDown();
                        }
                    });
                    begun.await();
                    Future<?> closing = threads.submit(limits.waiting::close);
                    asking.get();
                    closing.get();

                    assertThat(limits.waiting.waiting("one")).isZero();
                    assertThat(over).hasValue(parked.get());
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void close_tellsHowManyRequestsItRefuses(CapturedOutput output) {
        Limits limits = new Limits("delay", ticker);
        for (int i = 0; i < 7; i++) {
            assertThat(limits.ask().isWaiting()).isTrue();
        }

        limits.waiting.close();
        limits.waiting.close();

        assertThat(output).containsOnlyOnce("The application stops: 7 waiting requests are refused now");
    }

    @Test
    void wait_isTimed_whetherTheRequestGetsItsPermitsOrNot() {
        try (Limits limits = new Limits("wait", ticker)) {
            ChargedRequest first = limits.ask();
            ticker.advance(Duration.ofHours(1));
            assertThat(limits.askAgain(first).isRefused()).isFalse();

            ChargedRequest second = limits.ask();
            ticker.advance(Duration.ofMinutes(20));
            limits.waiting.close();
            assertThat(limits.askAgain(second).isRefused()).isTrue();

            assertThat(limits.waits).containsExactly("one WAITED 3600000000000", "one REFUSED 1200000000000");
        }
    }
}
