package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * No request blocks an event loop, from the first one on. Blocking calls are collected and not refused: what throws an
 * error there may be caught, and then only looks like a store that fails.
 */
@Tag("slow")
@Tag("servers")
class NeverBlocksTest {

    /** With those while Redis is slow or gone, 10,000 requests. */
    private static final int REQUESTS = 4_250;

    private static final List<String> MEETINGS = List.of(
            "dev.ratelimit.memory.BackOff.after(",
            "java.util.concurrent.ThreadPoolExecutor.execute(",
            "java.util.concurrent.ThreadPoolExecutor.remove(",
            "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.",
            "dev.ratelimit.redis.Link.",
            "io.lettuce.core.protocol.SharedLock.",
            "ch.qos.logback.");

    private static final Set<String> BLOCKING = new ConcurrentSkipListSet<>();
    private static volatile boolean watching;

    private static final String[] POLICIES = {
        "ratelimit.policies.address.limit=100/s",
        "ratelimit.policies.address.key=ip",
        "ratelimit.policies.each.limit=10000/minute",
        "ratelimit.policies.each.key=ip,endpoint",
        "ratelimit.policies.sessions.limit=10000/minute",
        "ratelimit.policies.sessions.key=session",
        "ratelimit.policies.held.concurrency=50",
        "ratelimit.policies.held.key=ip",
        "ratelimit.policies.held.match.paths=/deferred",
        "ratelimit.policies.free.limit=100000/minute",
        "ratelimit.policies.free.free=2xx",
        "ratelimit.policies.waits.limit=500/s",
        "ratelimit.policies.waits.key=ip",
        "ratelimit.policies.waits.match.paths=/orders/**",
        "ratelimit.policies.waits.on-exceeded.action=wait",
        "ratelimit.policies.waits.on-exceeded.max-wait=100ms",
    };

    private static final String[] PATHS = {
        "/any", "/orders/1", "/nowhere", "/deferred", "/called", "/static.txt", "/boom"
    };

    @Service
    static class Called {

        @RateLimited("100/s")
        public Mono<String> call() {
            return Mono.just("called");
        }
    }

    @RestController
    static class Api {

        private final Called called;

        Api(Called called) {
            this.called = called;
        }

        @GetMapping("/called")
        Mono<String> called() {
            return called.call();
        }
    }

    @BeforeAll
    static void watch() {
        BlockHound.builder()
                .loadIntegrations()
                .blockingMethodCallback(method -> {
                    if (watching) {
                        BLOCKING.add(method + " on " + Thread.currentThread().getName() + " by " + callers());
                    }
                })
                .install();
    }

    @BeforeEach
    void forget() {
        watching = false;
        BLOCKING.clear();
    }

    private static String callers() {
        return Arrays.stream(Thread.currentThread().getStackTrace())
                .map(StackTraceElement::toString)
                .skip(3)
                .limit(60)
                .collect(Collectors.joining("\n    ", "\n    ", "\n"));
    }

    /** Sends requests on several connections; returns their statuses. */
    private static Set<Integer> sendAll(RunningApp app, int requests) {
        // on connections of their own: Reactor Netty hangs those that are kept, also without rate limits; see
        // KeepAliveTest
        WebClient client = WebClient.builder()
                .clientConnector(new ReactorClientHttpConnector(HttpClient.create(ConnectionProvider.newConnection())))
                .baseUrl("http://127.0.0.1:" + app.client().port())
                .build();
        watching = true;
        try {
            return new TreeSet<>(Flux.range(0, requests)
                    .flatMap(
                            i -> client.get()
                                    .uri(PATHS[i % PATHS.length])
                                    .exchangeToMono(
                                            response -> response.releaseBody().thenReturn(response.statusCode())),
                            16)
                    .map(HttpStatusCode::value)
                    .collect(Collectors.toSet())
                    .block(Duration.ofMinutes(2)));
        } finally {
            watching = false;
        }
    }

    private static RunningApp start(String... more) {
        String[] all = Arrays.copyOf(POLICIES, POLICIES.length + more.length);
        System.arraycopy(more, 0, all, POLICIES.length, more.length);
        return RunningApp.startInRealTime(Server.DEFAULT, List.of(TestApi.class, Api.class, Called.class), all);
    }

    /**
     * What the rate limits do, not logging of errors and the like. Threads may meet for the few instructions in which one of
     * them decides about a key in memory, or changes the queue of an executor or the writers of a connection to Redis.
     */
    private static List<String> ours() {
        return BLOCKING.stream()
                .filter(call -> call.contains("dev.ratelimit."))
                .filter(call -> MEETINGS.stream().noneMatch(call::contains))
                .toList();
    }

    @Test
    void detector_ofABlockingCall_worksHere() {
        watching = true;
        Mono.fromCallable(() -> {
                    Thread.sleep(1);
                    return 1;
                })
                .subscribeOn(Schedulers.parallel())
                .block();

        assertThat(BLOCKING).anyMatch(call -> call.contains("sleep") && call.contains("NeverBlocksTest"));
    }

    @Test
    void requests_inMemory_neverBlock() {
        try (RunningApp app = start()) {
            assertThat(sendAll(app, REQUESTS)).contains(200, 404, 429, 500);
            assertThat(ours()).isEmpty();
        }
    }

    @Test
    void requests_withRedisThatIsSlowAndGone_neverBlock() {
        try (RedisServer server = RedisServer.start();
                RunningApp app = start(
                        "ratelimit.store.type=redis",
                        "ratelimit.store.redis.deadline=300ms",
                        "spring.data.redis.port=" + server.port())) {
            assertThat(sendAll(app, REQUESTS)).contains(200, 404, 429, 500);
            assertThat(ours()).isEmpty();

            server.pause();
            assertThat(sendAll(app, 500)).contains(200);
            assertThat(ours()).isEmpty();

            server.resume();
            assertThat(sendAll(app, 500)).contains(200);
            server.kill();
            assertThat(sendAll(app, 500)).contains(200);
            assertThat(ours()).isEmpty();
        }
    }
}
