package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** However many requests wait for Redis, no thread waits with them. */
@Tag("servers")
class ThreadsOnRedisTest {

    private static final int REQUESTS = 300;
    private static final List<String> OTHERS =
            List.of("webflux-http", "reactor-http", "process reaper", "lettuce-", "ratelimit-redis-connect");

    @Configuration(proxyBeanMethods = false)
    static class Arrivals {

        final AtomicInteger count = new AtomicInteger();

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        WebFilter count() {
            return (exchange, chain) -> {
                count.incrementAndGet();
                return chain.filter(exchange);
            };
        }
    }

    @Test
    @Tag("slow")
    void requests_thatWaitForRedis_startNoThreads() {
        try (RedisServer redis = RedisServer.start();
                RunningApp app = RunningApp.startInRealTime(
                        Server.DEFAULT,
                        List.of(TestApi.class, Arrivals.class),
                        "ratelimit.policies.all.limit=1000000/s",
                        "ratelimit.policies.each.limit=1000000/s",
                        "ratelimit.policies.each.key=ip,endpoint",
                        "ratelimit.store.type=redis",
                        "ratelimit.store.redis.deadline=30s",
                        "spring.data.redis.timeout=60s",
                        "spring.data.redis.port=" + redis.port())) {
            AtomicInteger arrived = app.bean(Arrivals.class).count;
            assertThat(send(app, 100).join()).containsOnly(200);
            Set<String> before = threads();
            int already = arrived.get();

            redis.pause();
            CompletableFuture<Set<Integer>> answers = send(app, REQUESTS);
            await().pollInSameThread().until(() -> arrived.get() == already + REQUESTS);
            Set<String> meanwhile = threads();
            redis.resume();

            assertThat(answers.join()).containsOnly(200);
            meanwhile.removeAll(before);
            assertThat(meanwhile).isEmpty();
        }
    }

    private static CompletableFuture<Set<Integer>> send(RunningApp app, int requests) {
        WebClient client = WebClient.builder()
                .clientConnector(new ReactorClientHttpConnector(HttpClient.create(ConnectionProvider.newConnection())))
                .baseUrl("http://127.0.0.1:" + app.client().port())
                .build();
        return Flux.range(0, requests)
                .flatMap(
                        i -> client.get()
                                .uri("/any")
                                .exchangeToMono(answer -> answer.releaseBody()
                                        .thenReturn(answer.statusCode().value())),
                        requests)
                .collect(Collectors.toSet())
                .toFuture();
    }

    /** Without those that connect again to a server that does not answer, however many requests wait. */
    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> OTHERS.stream().noneMatch(name::startsWith))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
