package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.test.FakeTicker;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/** Requests and calls on an event loop, with a store that answers at any time, or not at all. */
@ExtendWith(OutputCaptureExtension.class)
class WithoutBlockingTest {

    private static final Endpoint HANDLER = endpoint("/handled");
    private static final Endpoint OTHER = endpoint("/other");

    private static StoreUnavailableException down() {
        return new StoreUnavailableException("p", Duration.ofSeconds(3), "no answer");
    }

    static class Limited {

        @RateLimited(name = "slots", value = "1", algorithm = "concurrency", key = "#name")
        void hold(String name) {}

        @RateLimited(name = "once", value = "1/hour", key = "#name")
        void once(String name) {}

        @RateLimited(name = "handled", value = "1/hour", key = "#name")
        void handle(String name) {}

        @RateLimited(name = "other", value = "1/hour", key = "#name", fallback = "instead")
        String orElse(String name) {
            return name;
        }

        String instead(String name) {
            return name;
        }
    }

    /** Rules on an event loop; every reading of the clock takes a nanosecond. */
    private static final class Loop implements OutcomeCounter {

        private final FakeTicker ticker = new FakeTicker();
        private final RateLimitStore memory =
                InMemoryStore.builder().ticker(ticker).build();
        private final LateStore store = new LateStore(memory, ticker);
        private final RequestRules rules;
        private final WaitingRequests waiting;
        private final RequestLimiter limiter;
        private final List<String> outcomes = new ArrayList<>();
        private int held;

        /** In a property, {@code p.} means the policy p. */
        Loop(String... properties) {
            ticker.advanceOnRead(Duration.ofNanos(1));
            Map<String, String> map = new HashMap<>(Map.of("ratelimit.enabled", "true"));
            Stream.of(properties)
                    .map(property -> property.replaceFirst("^([pqr])\\.", "ratelimit.policies.$1."))
                    .map(property -> property.split("=", 2))
                    .forEach(property -> map.put(property[0], property[1]));
            RateLimitProperties bound = new Binder(new MapConfigurationPropertySource(map))
                    .bind("ratelimit", RateLimitProperties.class)
                    .get();
            rules = new RequestRules(bound, new DefaultListableBeanFactory(), text -> text, limit -> {});
            for (Method method : ReflectionUtils.getDeclaredMethods(Limited.class)) {
                switch (method.getName()) {
                    case "handle" -> rules.add(HANDLER, Limited.class, method);
                    case "orElse" -> rules.add(OTHER, Limited.class, method);
                    case "hold", "once" -> rules.addCall(Limited.class, method);
                    default -> {}
                }
            }
            rules.enforce(new EndpointResolver() {
                @Override
                public Endpoint resolve(WebRequest request) {
                    return switch (request.path().value()) {
                        case "/handled" -> HANDLER;
                        case "/other" -> OTHER;
                        default -> Endpoint.NOWHERE;
                    };
                }

                @Override
                public boolean mayLeadToAnnotated(WebRequest request) {
                    return true;
                }
            });
            waiting = new WaitingRequests(rules, store, ticker, store);
            limiter = new RequestLimiter(rules, bound, waiting, this, ticker, null).withoutBlocking();
        }

        @Override
        public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
            outcomes.add(policy + " " + outcome);
        }

        @Override
        public Runnable held(Charge charge) {
            held++;
            boolean[] back = {false};
            return () -> {
                held -= back[0] ? 0 : 1;
                back[0] = true;
            };
        }

        ChargedRequest ask() {
            return limiter.charge(null, request());
        }

        /** Charges a request that has waited, until it does not wait any more. */
        ChargedRequest decidedAgain(ChargedRequest charged) {
            return decided(limiter, charged);
        }

        ChargedRequest again(ChargedRequest charged) {
            return limiter.charge(charged, request(), true);
        }

        /** Charges a request, answering and charging it again until it does not wait. */
        ChargedRequest decided(RequestLimiter stage, @Nullable ChargedRequest before) {
            ChargedRequest charged = stage.charge(before, request(), true);
            while (charged.isWaiting()) {
                boolean[] over = {false};
                charged.whenOver(() -> over[0] = true);
                store.answerAll();
                store.runBlocking();
                assertThat(over[0]).as("over").isTrue();
                charged = stage.charge(charged, request(), true);
            }
            store.answerAll();
            return charged;
        }

        CallLimiter.Call call(String method) {
            Method called = Objects.requireNonNull(ReflectionUtils.findMethod(Limited.class, method, String.class));
            return Objects.requireNonNull(limiter.calls().call(Limited.class, called, new Object[] {"a"}));
        }

        long left(String policy) {
            Policy limits = rules.inForce().rule(policy).policy();
            return memory.peek(List.of(limits.charge())).limits().get(0).remaining();
        }

        void advance(Duration time) {
            ticker.advance(time);
        }
    }

    private static Endpoint endpoint(String path) {
        return Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse(path));
    }

    private static RecordedRequest request() {
        return request("/");
    }

    private static RecordedRequest request(String path) {
        return new RecordedRequest("GET", path).by("alice");
    }

    private static RecordedResponse answer(ChargedRequest charged) {
        RecordedResponse response = new RecordedResponse();
        try {
            if (charged.isRefused()) {
                charged.writeRefusal(response);
            } else {
                charged.writeHeaders(response);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return response;
    }

    @Test
    void charge_storeThatAnswersAtOnce_doesNotWait() {
        Loop loop = new Loop("p.limit=1/hour", "q.limit=9/hour", "q.mode=shadow");
        loop.store.answerAtOnce(true);

        assertThat(loop.ask()).matches(charged -> !charged.isWaiting() && !charged.isRefused());
        assertThat(loop.ask()).matches(charged -> !charged.isWaiting() && charged.isRefused());
    }

    @Test
    void charge_lateAnswer_waitsForIt() {
        Loop loop = new Loop("p.limit=1/hour", "ratelimit.expose-shared=true");
        List<ChargedRequest> over = new ArrayList<>();
        ChargedRequest first = loop.ask();
        ChargedRequest second = loop.ask();
        first.whenOver(() -> over.add(loop.again(first)));
        second.whenOver(() -> over.add(loop.again(second)));

        assertThat(loop.limiter.hasWaiting(first)).isTrue();
        assertThat(loop.limiter.letsRequestsWait()).isTrue();
        loop.store.answer(1);
        assertThat(over).containsExactly(second);
        loop.store.answer();

        assertThat(over).containsExactly(second, first);
        assertThat(answer(second).header("RateLimit")).startsWith("\"p\";r=0");
        assertThat(answer(first).status()).isEqualTo(429);
        assertThat(loop.outcomes).containsExactly("p ADMITTED", "p REFUSED");
    }

    @Test
    void charge_shadowThatRefuses_isAskedAgainWithoutIt() {
        Loop loop = new Loop("p.limit=9/hour", "q.limit=1/hour", "q.mode=shadow");
        loop.decided(loop.limiter, null);
        loop.outcomes.clear();

        ChargedRequest charged = loop.ask();
        loop.store.answer();
        assertThat(loop.store.open()).containsExactly("decide");
        assertThat(charged.isWaiting()).isTrue();
        loop.store.answer();

        assertThat(loop.again(charged).isRefused()).isFalse();
        assertThat(loop.outcomes).containsExactly("p ADMITTED", "q SHADOW_REFUSED");
        assertThat(loop.left("p")).isEqualTo(7);
    }

    @Test
    void charge_answerAtOnceAfterALateOne_goesOn() {
        Loop loop = new Loop("p.limit=9/hour", "q.limit=1/hour", "q.mode=shadow");
        loop.decided(loop.limiter, null);
        ChargedRequest charged = loop.ask();

        loop.store.answerAtOnce(true);
        loop.store.answer();

        assertThat(loop.again(charged).isRefused()).isFalse();
        assertThat(loop.store.open()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"enforce, true, p UNAVAILABLE", "shadow, false, p UNAVAILABLE"})
    void charge_storeThatIsDown_isUpToThePolicy(String mode, boolean refused, String outcome) {
        Loop loop = new Loop("p.limit=1/hour", "p.mode=" + mode);
        ChargedRequest charged = loop.ask();

        loop.store.fail(0, down());

        assertThat(loop.again(charged).isRefused()).isEqualTo(refused);
        assertThat(answer(charged).status()).isEqualTo(refused ? 503 : 200);
        assertThat(loop.outcomes).containsExactly(outcome);
    }

    @Test
    void charge_storeThatFailsOtherwise_failsTheRequest() {
        Loop loop = new Loop("p.limit=1/hour");
        ChargedRequest charged = loop.ask();

        loop.store.fail(0, new IllegalStateException("broken"));

        assertThatThrownBy(() -> loop.again(charged))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("broken");
        assertThat(charged.isWaiting()).isFalse();
    }

    @Test
    void charge_storeThatAnswersNothing_isNotFree() {
        Loop loop = new Loop("p.limit=1/hour");
        ChargedRequest charged = loop.ask();

        loop.store.answerNothing();

        assertThatThrownBy(() -> loop.again(charged)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void charge_secondStageThatRefuses_givesTheFirstBackAndShowsIt() {
        Loop loop =
                new Loop("p.limit=9/hour", "q.limit=1/hour", "q.stage=after-security", "ratelimit.expose-shared=true");
        RequestLimiter early = loop.limiter.beforeSecurity();
        RequestLimiter late = loop.limiter.afterSecurity();
        loop.decided(late, loop.decided(early, null));

        ChargedRequest charged = loop.decided(early, null);
        assertThat(late.charge(charged, request()).isWaiting()).isTrue();
        loop.store.answer();
        late.charge(charged, request());
        assertThat(charged.isWaiting()).as("until the limits are known").isTrue();
        assertThat(loop.store.open()).containsExactly("refund", "peek");
        loop.store.answerAll();
        late.charge(charged, request());

        assertThat(charged.isWaiting()).isFalse();
        assertThat(answer(charged).header("RateLimit")).startsWith("\"p\";r=8;");
        assertThat(loop.left("p")).isEqualTo(8);
        assertThat(loop.outcomes).containsExactly("p ADMITTED", "q ADMITTED", "q REFUSED");
    }

    @Test
    void charge_limitsThatCannotBeRead_areNotShown() {
        Loop loop =
                new Loop("p.limit=9/hour", "q.limit=1/hour", "q.stage=after-security", "ratelimit.expose-shared=true");
        RequestLimiter late = loop.limiter.afterSecurity();
        loop.decided(late, loop.decided(loop.limiter.beforeSecurity(), null));
        ChargedRequest charged = loop.decided(loop.limiter.beforeSecurity(), null);
        late.charge(charged, request());
        loop.store.answer();
        late.charge(charged, request());

        loop.store.answer();
        loop.store.fail(0, down());
        late.charge(charged, request());

        assertThat(answer(charged).header("RateLimit")).startsWith("\"q\"").doesNotContain("\"p\"");
    }

    @Test
    void charge_exemptAtTheSecondStage_refundsTheFirst() {
        Loop loop = new Loop("p.limit=9/hour", "ratelimit.exempt.when=#principal?.name == 'alice'");
        ChargedRequest charged = loop.decided(loop.limiter.beforeSecurity(), null);

        loop.decided(loop.limiter.afterSecurity(), charged);

        assertThat(loop.store.refunds()).containsExactly("p 1");
        assertThat(loop.left("p")).isEqualTo(9);
        assertThat(loop.outcomes).containsExactly("p EXEMPT");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void leave_beforeOrAfterTheAnswer_refundsItOnce(boolean answered) {
        Loop loop = new Loop("p.limit=9/hour", "q.concurrency=1", "r.limit=1/hour", "r.mode=shadow");
        loop.decided(loop.limiter, null).release();
        loop.store.answerAll();
        loop.store.refunds().clear();
        ChargedRequest charged = loop.ask();
        loop.store.answer();
        if (answered) {
            loop.store.answer();
        }

        charged.leave();
        charged.leave();
        charged.release();
        charged.refund();
        loop.store.answerAll();

        assertThat(loop.store.refunds()).containsExactlyInAnyOrder("p 1", "q 1");
        assertThat(loop.left("p")).isEqualTo(8);
        assertThat(loop.left("q")).isEqualTo(1);
        assertThat(loop.held).isZero();
        assertThat(loop.again(charged).isRefused()).isTrue();
        assertThat(charged.isWaiting()).isFalse();
    }

    @Test
    void leave_beforeTheShadowIsLeftOut_asksNoMore() {
        Loop loop = new Loop("p.limit=9/hour", "q.limit=1/hour", "q.mode=shadow");
        loop.decided(loop.limiter, null);
        ChargedRequest charged = loop.ask();

        charged.leave();
        loop.store.answerAll();

        assertThat(loop.left("p")).isEqualTo(8);
        assertThat(loop.store.refunds()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void leave_whileTheStoreIsAsked_holdsNothing(boolean atOnce) {
        Loop loop = new Loop("p.concurrency=1", "q.concurrency=1", "q.stage=after-security", "q.limit=9/hour");
        ChargedRequest charged = loop.decided(loop.limiter.beforeSecurity(), null);
        loop.store.onDecide(() -> {
            charged.leave();
            charged.release();
        });
        loop.store.answerAtOnce(atOnce);

        loop.limiter.afterSecurity().charge(charged, request());
        loop.store.answerAll();

        assertThat(charged.isRefused()).isTrue();
        assertThat(charged.isWaiting()).isFalse();
        assertThat(loop.left("p")).isEqualTo(1);
        assertThat(loop.left("q")).isEqualTo(9);
        assertThat(loop.left("q/concurrency")).isEqualTo(1);
        assertThat(loop.held).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void release_whileTheStoreIsAsked_holdsNothing(boolean atOnce) {
        Loop loop = new Loop("p.concurrency=1");
        ChargedRequest charged = loop.limiter.afterSecurity().charge(null, request());
        loop.store.onDecide(charged::release);
        loop.store.answerAtOnce(atOnce);

        loop.decided(loop.limiter.beforeSecurity(), charged);
        charged.countAdmitted();

        assertThat(loop.left("p")).isEqualTo(1);
        assertThat(loop.held).isZero();
    }

    @Test
    void wait_clientThatLeavesWhileTheQueueAsks_getsNothing() {
        Loop loop = new Loop("p.limit=1/minute", "p.on-exceeded.action=wait", "p.on-exceeded.max-wait=2m");
        loop.decided(loop.limiter, null);
        ChargedRequest charged = loop.limiter.charge(null, request(), true);
        loop.store.answer();
        loop.again(charged);
        loop.advance(Duration.ofSeconds(70));
        loop.store.onDecide(charged::leave);

        loop.store.runBlocking();
        loop.store.answerAll();

        assertThat(loop.store.refunds()).containsExactly("p 1");
        assertThat(loop.left("p")).isEqualTo(1);
    }

    @Test
    void release_beforeThePermitsAreThere_holdsNone() {
        Loop loop = new Loop("p.concurrency=1");
        loop.store.answerAtOnce(true);
        ChargedRequest charged = loop.limiter.beforeSecurity().charge(null, request());
        assertThat(loop.left("p")).isZero();

        charged.release();
        assertThat(loop.left("p")).isEqualTo(1);
        charged.countAdmitted();

        assertThat(loop.held).isZero();
    }

    @Test
    void wait_refusedByALateAnswer_getsItsPermits() {
        Loop loop = new Loop("p.limit=1/minute", "p.on-exceeded.action=wait", "p.on-exceeded.max-wait=2m");
        loop.decided(loop.limiter, null);
        ChargedRequest charged = loop.limiter.charge(null, request(), true);
        loop.store.answer();
        boolean[] over = {false};
        loop.again(charged).whenOver(() -> over[0] = true);

        assertThat(loop.waiting.waiting("p")).as("not on the loop").isZero();
        loop.store.runBlocking();
        assertThat(loop.waiting.waiting("p")).isEqualTo(1);
        loop.advance(Duration.ofMinutes(1));

        assertThat(over[0]).isTrue();
        assertThat(loop.again(charged)).matches(one -> !one.isWaiting() && !one.isRefused());
        assertThat(loop.outcomes).containsExactly("p ADMITTED", "p WAITED");
    }

    @Test
    void wait_newcomers_doNotOvertake() {
        Loop loop = new Loop("p.limit=1/minute", "p.on-exceeded.action=wait", "p.on-exceeded.max-wait=2m");
        loop.decided(loop.limiter, null);
        ChargedRequest first = loop.limiter.charge(null, request(), true);
        loop.store.answer();
        loop.again(first);
        loop.store.runBlocking();

        ChargedRequest second = loop.limiter.charge(null, request(), true);
        assertThat(loop.store.open()).isEmpty();
        loop.store.runBlocking();

        assertThat(loop.waiting.waiting("p")).isEqualTo(2);
        loop.advance(Duration.ofMinutes(1));
        assertThat(loop.again(first).isWaiting()).isFalse();
        assertThat(second.isWaiting()).isTrue();
        loop.advance(Duration.ofMinutes(1));
        assertThat(loop.again(second)).matches(one -> !one.isWaiting() && !one.isRefused());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void wait_clientThatLeaves_getsNothing(int step) {
        Loop loop = new Loop("p.limit=1/minute", "p.on-exceeded.action=wait", "p.on-exceeded.max-wait=2m");
        loop.decided(loop.limiter, null);
        ChargedRequest charged = loop.limiter.charge(null, request(), true);
        List<Runnable> steps = List.of(
                loop.store::answer,
                () -> loop.again(charged),
                loop.store::runBlocking,
                () -> loop.advance(Duration.ofSeconds(70)));
        steps.subList(0, step + 1).forEach(Runnable::run);

        charged.leave();
        steps.subList(step + 1, steps.size()).forEach(Runnable::run);
        loop.store.answerAll();

        assertThat(loop.waiting.waiting("p")).isZero();
        assertThat(loop.left("p")).isEqualTo(1);
        assertThat(loop.again(charged).isRefused()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void wait_close_refuses(boolean inLine) {
        Loop loop = new Loop("p.limit=1/minute", "p.on-exceeded.action=wait", "p.on-exceeded.max-wait=2m");
        loop.decided(loop.limiter, null);
        ChargedRequest charged = loop.limiter.charge(null, request(), true);
        loop.store.answer();
        loop.again(charged);
        if (inLine) {
            loop.store.runBlocking();
        }

        loop.waiting.close();
        loop.store.runBlocking();

        assertThat(loop.decidedAgain(charged).isRefused()).isTrue();
        assertThat(answer(charged).status()).isEqualTo(429);
    }

    @Test
    void delay_lateAnswer_isHeldBack() {
        Loop loop = new Loop(
                "p.limit=1/hour", "p.on-exceeded.action=delay", "p.on-exceeded.delay=10s", "p.retry-jitter.max=0s");
        loop.decided(loop.limiter, null);
        ChargedRequest charged = loop.limiter.charge(null, request(), true);
        loop.store.answer();
        loop.again(charged);

        assertThat(charged.isRefused()).isTrue();
        assertThat(loop.waiting.waiting("p")).isEqualTo(1);
        loop.advance(Duration.ofSeconds(10));

        assertThat(loop.decidedAgain(charged).isRefused()).isTrue();
        assertThat(answer(charged).header("Retry-After")).isEqualTo("3590");
        assertThat(loop.outcomes).containsExactly("p ADMITTED", "p DELAYED");
    }

    @Test
    void settle_refundsWithoutBlocking(CapturedOutput output) {
        Loop loop = new Loop("p.limit=9/hour", "p.free=2xx");
        ChargedRequest charged = loop.decided(loop.limiter, null);

        charged.settle(List.of(200));
        charged.settle(List.of(200));
        assertThat(loop.store.open()).containsExactly("refund");
        loop.store.fail(0, new IllegalStateException("broken"));

        assertThat(output.getAll()).contains("The rate limit store failed to refund permits");
        assertThat(loop.left("p")).isEqualTo(8);
    }

    @Test
    void call_lateAnswer_isChargedWhenItComes() {
        Loop loop = new Loop();
        CompletableFuture<@Nullable Void> first = loop.call("once").chargeWithinAsync(request(), null);
        CompletableFuture<@Nullable Void> second = loop.call("once").chargeOutsideAsync(null);
        assertThat(first).isNotDone();

        loop.store.answerAll();

        assertThat(first).isCompleted();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(second::join)
                .withCauseInstanceOf(RateLimitExceededException.class);
        assertThat(loop.outcomes).containsExactly("once ADMITTED", "once REFUSED");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void call_end_holdsNothingWheneverTheAnswerComes(boolean answered) {
        Loop loop = new Loop();
        CallLimiter.Call call = loop.call("hold");
        CompletableFuture<@Nullable Void> charged = call.chargeWithinAsync(request(), null);
        if (answered) {
            loop.store.answer();
            assertThat(call.holds()).isTrue();
            assertThat(loop.held).isEqualTo(1);
        }

        call.end();
        call.end();
        loop.store.answerAll();

        assertThat(charged.isCompletedExceptionally()).isNotEqualTo(answered);
        assertThat(loop.store.refunds()).containsExactly("slots 1");
        assertThat(loop.held).isZero();
        CompletableFuture<@Nullable Void> next = loop.call("hold").chargeWithinAsync(request(), null);
        loop.store.answerAll();
        assertThat(next).isCompleted();
    }

    @ParameterizedTest
    @CsvSource({"handle, /handled, 8, 'p ADMITTED,handled ADMITTED,handled REFUSED'", "orElse, /other, 7, "})
    void call_ofTheHandler_refusedLate_givesTheRequestBackUnlessThereIsAFallback(
            String method, String path, long left, @Nullable String outcomes) {
        Loop loop = new Loop("p.limit=9/hour", "ratelimit.expose-shared=true");
        List<ChargedRequest> requests = new ArrayList<>();
        List<CompletableFuture<@Nullable Void>> calls = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ChargedRequest charged = loop.limiter.charge(null, request(path));
            loop.store.answer();
            requests.add(loop.limiter.charge(charged, request(path)));
            calls.add(loop.call(method).chargeAsPartOfAsync(charged, request(path)));
            loop.store.answer();
        }

        assertThat(calls.get(0)).isCompleted();
        assertThat(calls.get(1).isDone()).as("before the limits are known").isEqualTo(outcomes == null);
        loop.store.answerAll();

        assertThat(calls.get(1)).isCompletedExceptionally();
        assertThat(loop.left("p")).isEqualTo(left);
        assertThat(requests.get(1).isRefused()).isEqualTo(outcomes != null);
        if (outcomes != null) {
            assertThat(loop.outcomes).containsExactly(outcomes.split(","));
            assertThat(answer(requests.get(1)).header("RateLimit")).startsWith("\"p\";r=8;");
        }
    }

    @Test
    void call_ofTheHandler_clientThatLeaves_getsNothing() {
        Loop loop = new Loop();
        ChargedRequest charged = loop.limiter.charge(null, request("/handled"));
        CompletableFuture<@Nullable Void> call = loop.call("handle").chargeAsPartOfAsync(charged, request("/handled"));

        charged.leave();
        charged.release();
        loop.store.answerAll();

        assertThat(call).isCompleted();
        assertThat(charged.isRefused()).isTrue();
        assertThat(loop.store.refunds()).containsExactly("handled 1");
    }

    @Test
    void call_endedBefore_isNotCharged() {
        Loop loop = new Loop();
        CallLimiter.Call call = loop.call("once");

        call.end();
        CompletableFuture<@Nullable Void> charged = call.chargeOutsideAsync(null);
        loop.store.answerAll();

        assertThat(charged).isCompletedExceptionally();
        assertThat(loop.store.refunds()).containsExactly("once 1");
    }

    @Test
    void call_storeThatFails_failsIt() {
        Loop loop = new Loop();
        CompletableFuture<@Nullable Void> charged = loop.call("once").chargeOutsideAsync(null);

        loop.store.fail(0, new IllegalStateException("broken"));

        assertThatThrownBy(charged::join).hasCause(new IllegalStateException("broken"));
    }
}
