package dev.ratelimit.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.test.FakeTicker;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class RateLimitExchangeFilterTest {

    private static final Policy RATE = Policy.of("rate", TokenBucket.of(Rate.parse("1/second")));
    private static final Policy HELD = Policy.of("held", Concurrency.of(1));
    private static final String HOST = "https://api.example.com";

    private final FakeTicker ticker = new FakeTicker();
    private final InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
    private final List<String> sent = new ArrayList<>();
    private ClientResponse response = ClientResponse.create(HttpStatus.OK).build();

    private ClientLimits.Builder limits() {
        return ClientLimits.builder().ticker(ticker).store(store).jitter(Duration.ZERO);
    }

    private Mono<ClientResponse> exchange(RateLimitExchangeFilter filter, String uri) {
        ClientRequest request =
                ClientRequest.create(HttpMethod.GET, URI.create(uri)).build();
        return filter.filter(request, any -> {
            sent.add(uri);
            return Mono.just(response);
        });
    }

    private Mono<ClientResponse> exchange(RateLimitExchangeFilter filter) {
        return exchange(filter, HOST + "/x");
    }

    private long left(Policy policy) {
        return store.peek(List.of(policy.charge(HOST))).limits().get(0).remaining();
    }

    private void answer(String name, String value) {
        response = ClientResponse.create(HttpStatus.TOO_MANY_REQUESTS)
                .header(name, value)
                .build();
    }

    @Test
    void call_withoutPermit_isSentWhenThePermitIsThere() {
        RateLimitExchangeFilter filter =
                new RateLimitExchangeFilter(limits().policy(RATE).build());
        exchange(filter).subscribe();
        int alarms = ticker.alarms();

        exchange(filter).subscribe();
        ticker.advance(Duration.ofMillis(999));
        assertThat(sent).hasSize(1);
        ticker.advance(Duration.ofMillis(1));

        assertThat(sent).hasSize(2);
        assertThat(ticker.alarms()).isEqualTo(alarms);
    }

    /** A scheduler of fake time, with the tasks for each of its executors. */
    private static final class Threads implements Ticker, Scheduler {

        private final FakeTicker time;
        private final List<Runnable> quick = new ArrayList<>();
        private final List<Runnable> blocking = new ArrayList<>();
        private boolean full;

        Threads(FakeTicker time) {
            this.time = time;
        }

        @Override
        public long nanos() {
            return time.nanos();
        }

        @Override
        public long epochNanos() {
            return time.epochNanos();
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            return time.schedule(task, delayNanos);
        }

        @Override
        public Executor executor() {
            return quick::add;
        }

        @Override
        public Executor blockingExecutor() {
            return task -> {
                if (full) {
                    throw new RejectedExecutionException("full");
                }
                blocking.add(task);
            };
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void call_afterAWait_goesOnWhereItMayBlock_whileThereIsAThread(boolean full) {
        Threads threads = new Threads(ticker);
        threads.full = full;
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(
                limits().ticker(threads).policy(RATE).build());
        exchange(filter).subscribe();
        exchange(filter).subscribe();

        ticker.advance(Duration.ofSeconds(1));

        assertThat(sent).hasSize(1);
        assertThat(threads.blocking).hasSize(full ? 0 : 1);
        (full ? threads.quick : threads.blocking).get(0).run();
        assertThat(sent).hasSize(2);
    }

    @Test
    void call_whosePermitComesTooLate_failsAtOnce() {
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(
                limits().policy(RATE).maxWait(Duration.ofMillis(500)).build());
        exchange(filter).subscribe();
        AtomicReference<Throwable> failure = new AtomicReference<>();

        exchange(filter, HOST + "/secret?token=1").subscribe(any -> {}, failure::set);

        assertThat(failure.get())
                .isInstanceOfSatisfying(CallNotSentException.class, e -> {
                    assertThat(e.policy()).isEqualTo("rate");
                    assertThat(e.retryAfter()).isEqualTo(Duration.ofSeconds(1));
                })
                .hasMessage(
                        "GET https://api.example.com was not sent: policy 'rate' would admit it in PT1S, but a call "
                                + "waits at most PT0.5S (maxWait). Try again later, or let calls wait longer");
        assertThat(sent).hasSize(1);
    }

    @Test
    void exchange_thatEndsWithoutAResponse_returnsItsPermit() {
        ClientLimits limits = limits().policy(HELD).build();
        ClientRequest request =
                ClientRequest.create(HttpMethod.GET, URI.create(HOST)).build();

        new RateLimitExchangeFilter(limits).filter(request, any -> Mono.empty()).subscribe();

        assertThat(left(HELD)).isEqualTo(1);
        assertThat(limits.inFlight().keys()).isZero();
    }

    @Test
    void answerToAnOlderCall_doesNotLiftTheBound() {
        ClientLimits limits = limits().build();
        Sinks.One<ClientResponse> older = Sinks.one();
        Sinks.One<ClientResponse> newer = Sinks.one();
        ClientRequest request =
                ClientRequest.create(HttpMethod.GET, URI.create(HOST)).build();
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits);
        filter.filter(request, any -> older.asMono()).subscribe();
        ticker.advance(Duration.ofSeconds(1));
        filter.filter(request, any -> newer.asMono()).subscribe();
        ticker.advance(Duration.ofSeconds(1));
        newer.tryEmitValue(ClientResponse.create(HttpStatus.OK)
                .header("RateLimit", "\"a\";r=1;t=60")
                .build());
        ticker.advance(Duration.ofSeconds(1));
        older.tryEmitValue(ClientResponse.create(HttpStatus.OK).build());

        filter.filter(request, any -> Mono.never()).subscribe();

        assertThat(limits.inFlight().enter(HOST)).isFalse();
    }

    @Test
    void cancelled_whileItWaits_leavesNothingChargedAndNoAlarm() {
        RateLimitExchangeFilter filter =
                new RateLimitExchangeFilter(limits().policy(RATE).build());
        exchange(filter).subscribe();
        int alarms = ticker.alarms();
        Disposable waiting = exchange(filter).subscribe();

        waiting.dispose();

        assertThat(ticker.alarms()).isEqualTo(alarms);
        ticker.advance(Duration.ofSeconds(1));
        assertThat(left(RATE)).isEqualTo(1);
        assertThat(sent).hasSize(1);
    }

    @Test
    void cancelled_whileTheStoreIsAsked_leavesNothingCharged() {
        List<Runnable> tasks = new ArrayList<>();
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(
                limits().policy(RATE).executor(tasks::add).build());
        Disposable asking = exchange(filter).subscribe();

        asking.dispose();
        List.copyOf(tasks).forEach(Runnable::run);

        assertThat(sent).isEmpty();
        assertThat(left(RATE)).isEqualTo(1);
    }

    @Test
    void cancelled_whileTheStoreDecides_leavesNothingCharged() {
        List<Runnable> tasks = new ArrayList<>();
        AtomicReference<Disposable> asking = new AtomicReference<>();
        ForwardingStore slow = new ForwardingStore(store) {
            @Override
            public Decision decide(List<Charge> charges) {
                Decision decision = super.decide(charges);
                Objects.requireNonNull(asking.get()).dispose();
                return decision;
            }
        };
        ClientLimits limits = limits().store(slow)
                .policy(RATE)
                .policy(HELD)
                .executor(tasks::add)
                .build();
        asking.set(exchange(new RateLimitExchangeFilter(limits)).subscribe());

        tasks.get(0).run();

        assertThat(sent).isEmpty();
        assertThat(left(RATE)).isEqualTo(1);
        assertThat(left(HELD)).isEqualTo(1);
        assertThat(limits.inFlight().keys()).isZero();
    }

    @Test
    void policies_areAllOrNothing() {
        Policy daily = Policy.of("daily", TokenBucket.of(Rate.parse("5/day")));
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(
                limits().policy(daily).policy(RATE).maxWait(Duration.ZERO).build());
        exchange(filter).subscribe();

        exchange(filter).subscribe(any -> {}, failure -> {});

        assertThat(left(daily)).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"complete", "error", "cancel"})
    void concurrency_isHeldUntilTheBodyEnds(String end) {
        Sinks.Many<DataBuffer> body = Sinks.many().unicast().onBackpressureBuffer();
        response = ClientResponse.create(HttpStatus.OK).body(body.asFlux()).build();
        RateLimitExchangeFilter filter =
                new RateLimitExchangeFilter(limits().policy(HELD).build());
        AtomicReference<ClientResponse> received = new AtomicReference<>();
        exchange(filter).subscribe(received::set);
        Disposable reading =
                Objects.requireNonNull(received.get()).bodyToFlux(byte[].class).subscribe(any -> {}, failure -> {});
        body.tryEmitNext(DefaultDataBufferFactory.sharedInstance.wrap("a".getBytes(StandardCharsets.UTF_8)))
                .orThrow();
        assertThat(left(HELD)).isZero();

        switch (end) {
            case "complete" -> body.tryEmitComplete().orThrow();
            case "error" ->
                body.tryEmitError(new IllegalStateException("broken")).orThrow();
            default -> reading.dispose();
        }

        assertThat(left(HELD)).isEqualTo(1);
    }

    @Test
    void concurrency_isWaitedForUntilTheDeadline_andTakenSoonAfterItComesBack() {
        Sinks.Many<DataBuffer> body = Sinks.many().unicast().onBackpressureBuffer();
        response = ClientResponse.create(HttpStatus.OK).body(body.asFlux()).build();
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(
                limits().policy(HELD).maxWait(Duration.ofMillis(900)).build());
        AtomicReference<ClientResponse> received = new AtomicReference<>();
        exchange(filter).subscribe(received::set);
        Objects.requireNonNull(received.get()).bodyToFlux(byte[].class).subscribe();

        exchange(filter).subscribe();
        ticker.advance(Duration.ofMillis(800));
        assertThat(sent).hasSize(1);
        body.tryEmitComplete().orThrow();
        ticker.advance(Duration.ofMillis(100));

        assertThat(sent).hasSize(2);
    }

    @Test
    void concurrency_thatDoesNotComeBack_isNamedAtTheDeadline() {
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(
                limits().policy(HELD).maxWait(Duration.ofMillis(900)).build());
        exchange(filter).subscribe();
        AtomicReference<Throwable> failure = new AtomicReference<>();

        exchange(filter).subscribe(any -> {}, failure::set);
        assertThat(failure.get()).isNull();
        ticker.advance(Duration.ofSeconds(1));

        assertThat(failure.get())
                .isInstanceOf(CallNotSentException.class)
                .hasMessageContaining("has all its permits under way, but a call waits at most PT0.9S");
    }

    @Test
    void concurrency_ofACallThatFails_comesBack() {
        RateLimitExchangeFilter filter =
                new RateLimitExchangeFilter(limits().policy(HELD).policy(RATE).build());
        ClientRequest request =
                ClientRequest.create(HttpMethod.GET, URI.create(HOST)).build();

        filter.filter(request, any -> Mono.error(new IllegalStateException("no route")))
                .subscribe(any -> {}, failure -> {});
        filter.filter(request, any -> Mono.never()).subscribe().dispose();

        assertThat(left(HELD)).isEqualTo(1);
        assertThat(left(RATE)).as("the server may have got the call").isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void executorThatRejects_losesNothing(int rejected) {
        AtomicInteger tasks = new AtomicInteger();
        ClientLimits limits = limits().policy(HELD)
                .executor(task -> {
                    if (tasks.incrementAndGet() == rejected) {
                        throw new RejectedExecutionException("full");
                    }
                    task.run();
                })
                .build();
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits);
        AtomicReference<Throwable> failure = new AtomicReference<>();

        exchange(filter).subscribe(any -> {}, failure::set);

        assertThat(failure.get()).isInstanceOf(RejectedExecutionException.class);
        assertThat(left(HELD)).isEqualTo(1);
        assertThat(limits.inFlight().keys()).isZero();
    }

    @Test
    void cancelled_whileAPauseIsStored_returnsThePermit() {
        AtomicReference<Disposable> calling = new AtomicReference<>();
        ForwardingStore slow = new ForwardingStore(store) {
            @Override
            public Decision peek(List<Charge> charges) {
                Objects.requireNonNull(calling.get()).dispose();
                return super.peek(charges);
            }
        };
        List<Runnable> tasks = new ArrayList<>();
        ClientLimits limits =
                limits().store(slow).policy(HELD).executor(tasks::add).build();
        answer("Retry-After", "5");
        calling.set(exchange(new RateLimitExchangeFilter(limits)).subscribe());

        tasks.get(0).run();
        tasks.get(1).run();

        // other threads ask a store that has only blocking methods
        await().untilAsserted(() -> assertThat(left(HELD)).isEqualTo(1));
        ticker.advance(Duration.ofSeconds(5));
        assertThat(limits.inFlight().enter(HOST)).isTrue();
    }

    @Test
    void storeThatThrows_whileAPauseIsStored_returnsThePermitAndReleasesTheBody() {
        ForwardingStore closed = new ForwardingStore(store) {
            @Override
            public Decision peek(List<Charge> charges) {
                throw new IllegalStateException("closed");
            }
        };
        AtomicBoolean released = new AtomicBoolean();
        response = ClientResponse.create(HttpStatus.TOO_MANY_REQUESTS)
                .header("Retry-After", "5")
                .body(Flux.<DataBuffer>empty().doOnSubscribe(any -> released.set(true)))
                .build();
        AtomicReference<Throwable> failure = new AtomicReference<>();

        exchange(new RateLimitExchangeFilter(limits().store(closed).policy(HELD).build()))
                .subscribe(any -> {}, failure::set);

        assertThat(failure.get()).hasMessage("closed");
        assertThat(released).isTrue();
        // other threads ask a store that has only blocking methods
        await().untilAsserted(() -> assertThat(left(HELD)).isEqualTo(1));
    }

    @Test
    void retryAfter_holdsBackTheHostAndNoOther() {
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits().build());
        answer("Retry-After", "5");
        exchange(filter).subscribe();

        exchange(filter, "HTTPS://API.example.com:443/other").subscribe();
        exchange(filter, "https://other.example.com/").subscribe();

        assertThat(sent).containsExactly(HOST + "/x", "https://other.example.com/");
        ticker.advance(Duration.ofMillis(4_999));
        assertThat(sent).hasSize(2);
        ticker.advance(Duration.ofMillis(1));
        assertThat(sent).hasSize(3);
    }

    @Test
    void shorterRetryAfter_doesNotEndTheLongerOne() {
        ClientLimits limits = limits().build();
        limits.pauses().pause(HOST, 8);
        limits.pauses().pause(HOST, 3);
        exchange(new RateLimitExchangeFilter(limits)).subscribe();

        ticker.advance(Duration.ofMillis(7_999));

        assertThat(sent).isEmpty();
        ticker.advance(Duration.ofMillis(1));
        assertThat(sent).hasSize(1);
    }

    @Test
    void pause_beyondMaxWait_failsAtOnce() {
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits().build());
        answer("Retry-After", "60");
        exchange(filter).subscribe();
        AtomicReference<Throwable> failure = new AtomicReference<>();

        exchange(filter).subscribe(any -> {}, failure::set);

        assertThat(failure.get()).isInstanceOfSatisfying(CallNotSentException.class, e -> {
            assertThat(e.policy()).isEqualTo(ClientLimits.SERVER);
            assertThat(e.retryAfter()).isEqualTo(Duration.ofMinutes(1));
        });
        assertThat(failure.get()).hasMessageContaining("the server has asked to wait for another PT1M");
    }

    @ParameterizedTest
    @ValueSource(strings = {"999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"})
    void pause_ofAHostileServer_isCutAtMaxObeyed(String retryAfter) {
        ClientLimits limits = limits().maxObeyed(Duration.ofMinutes(1)).build();
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits);
        answer("Retry-After", retryAfter);
        exchange(filter).subscribe();

        ticker.advance(Duration.ofSeconds(59));
        exchange(filter).subscribe();
        ticker.advance(Duration.ofSeconds(1));

        assertThat(sent).hasSize(2);
    }

    @Test
    void waitingCalls_afterAPause_goOneFirstAndThenAsManyAsTheServerAdmits() {
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits().build());
        answer("RateLimit", "\"x\";r=0;t=5");
        exchange(filter).subscribe();
        List<Sinks.One<ClientResponse>> underWay = new ArrayList<>();
        ClientRequest request =
                ClientRequest.create(HttpMethod.GET, URI.create(HOST)).build();
        for (int i = 0; i < 10; i++) {
            filter.filter(request, any -> {
                        underWay.add(Sinks.one());
                        return underWay.get(underWay.size() - 1).asMono();
                    })
                    .subscribe();
        }

        ticker.advance(Duration.ofSeconds(6));
        assertThat(underWay).hasSize(1);
        underWay.get(0)
                .tryEmitValue(ClientResponse.create(HttpStatus.OK)
                        .header("RateLimit", "\"y\";r=3;t=5")
                        .build())
                .orThrow();
        ticker.advance(Duration.ofSeconds(1));

        assertThat(underWay).hasSize(4);
    }

    /** As if the call under way waited for the other one, which nobody can tell. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "200 | RateLimit | x;r=1;t=5 | 5",
                "200 | RateLimit | x;r=1 | 1",
                "200 | RateLimit | x;r=1;t=999999999 | 60",
                "429 | Retry-After | 5 | 6",
                "429 | Retry-After | 999999999 | 61"
            })
    void boundOfAnAnswer_endsByItself(int status, String name, String value, int seconds) {
        ClientLimits limits = limits().maxObeyed(Duration.ofMinutes(1))
                .maxWait(Duration.ofHours(1))
                .build();
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits);
        response = ClientResponse.create(HttpStatus.valueOf(status))
                .header(name, value)
                .build();
        exchange(filter).subscribe();
        for (int i = 0; i < 2; i++) {
            ClientRequest request =
                    ClientRequest.create(HttpMethod.GET, URI.create(HOST)).build();
            filter.filter(request, any -> Mono.<ClientResponse>never().doOnSubscribe(never -> sent.add("never")))
                    .subscribe();
        }

        ticker.advance(Duration.ofSeconds(seconds).minusMillis(1));
        assertThat(sent).hasSize(2);
        ticker.advance(Duration.ofMillis(201));

        assertThat(sent).hasSize(3);
        filter.filter(
                        ClientRequest.create(HttpMethod.GET, URI.create(HOST)).build(),
                        any -> Mono.<ClientResponse>never().doOnSubscribe(never -> sent.add("never")))
                .subscribe();
        assertThat(sent).as("unbounded").hasSize(4);
    }

    @Test
    void call_withinACall_isNotHeldByItsBound() {
        ClientLimits limits = limits().maxWait(Duration.ZERO).build();
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits);
        response = ClientResponse.create(HttpStatus.OK)
                .header("RateLimit", "\"x\";r=1;t=60")
                .build();
        exchange(filter).subscribe();
        ClientRequest request =
                ClientRequest.create(HttpMethod.GET, URI.create(HOST)).build();

        filter.filter(
                        request,
                        any -> exchange(filter, HOST + "/token").flatMap(token -> {
                            sent.add("outer");
                            return Mono.just(response);
                        }))
                .subscribe();

        assertThat(sent).containsExactly(HOST + "/x", HOST + "/token", "outer");
        assertThat(limits.inFlight().enter(HOST)).isTrue();
        assertThat(limits.inFlight().enter(HOST)).isFalse();
    }

    @Test
    void jitter_spreadsThoseWhoWaitForTheSameMoment() {
        ClientLimits limits = limits().jitter(Duration.ofSeconds(4)).build();
        limits.pauses().pause(HOST, 5);
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits);
        for (int i = 0; i < 100; i++) {
            exchange(filter).subscribe();
        }

        ticker.advance(Duration.ofSeconds(5));
        assertThat(sent).hasSizeLessThan(20);
        ticker.advance(Duration.ofSeconds(2));
        assertThat(sent).hasSizeBetween(20, 80);
        ticker.advance(Duration.ofSeconds(2));
        assertThat(sent).hasSize(100);
    }

    @Test
    void pauses_ofSeveralInstances_areShared() {
        answer("Retry-After", "5");
        exchange(new RateLimitExchangeFilter(limits().build())).subscribe();

        exchange(new RateLimitExchangeFilter(limits().build())).subscribe();

        assertThat(sent).hasSize(1);
        ticker.advance(Duration.ofSeconds(5));
        assertThat(sent).hasSize(2);
    }

    @Test
    void fields_underATickerThatMoves_areObeyed() {
        ticker.advanceOnRead(Duration.ofNanos(7));
        RateLimitExchangeFilter filter =
                new RateLimitExchangeFilter(limits().policy(RATE).policy(HELD).build());
        answer("Retry-After", "3");
        AtomicReference<ClientResponse> first = new AtomicReference<>();
        exchange(filter).subscribe(first::set);
        Objects.requireNonNull(first.get()).releaseBody().subscribe();

        exchange(filter).subscribe();
        ticker.advance(Duration.ofMillis(2_990));
        assertThat(sent).hasSize(1);
        ticker.advance(Duration.ofMillis(20));

        assertThat(sent).hasSize(2);
    }

    @Test
    void hosts_thatSayNothing_areForgotten() {
        ClientLimits limits = limits().build();
        RateLimitExchangeFilter filter = new RateLimitExchangeFilter(limits);
        for (int i = 0; i < 100; i++) {
            exchange(filter, "https://h" + i + ".example.com/").subscribe();
        }

        assertThat(limits.inFlight().keys()).isZero();
    }

    @Test
    void policies_ofOneName_areRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits().policy(RATE).policy(RATE, RequestKey.uriTemplate()))
                .withMessage("there is a policy 'rate' already; give this one another name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits().maxWait(Duration.ofSeconds(-1)))
                .withMessage("maxWait must be from PT0S to PT8760H but was PT-1S");
    }
}
