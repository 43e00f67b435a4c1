package dev.ratelimit.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.RedisStore;
import io.lettuce.core.RedisClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.webclient.WebClientCustomizer;
import org.springframework.boot.webclient.autoconfigure.WebClientAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;

/** The Java of docs/client.md: what stands there stands here, and runs. */
class ClientPageTest {

    @Test
    void java_ofThePage_isInThisFile() throws IOException {
        Path here = Path.of("src/test/java/dev/ratelimit/client/ClientPageTest.java");
        String tested = squeezed(Files.readString(here));
        List<String> blocks = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/client.md")))
                .results()
                .map(block -> block.group(1))
                .toList();

        assertThat(blocks).hasSize(5).allSatisfy(block -> {
            assertThat(block.lines().filter(line -> line.startsWith("import ")))
                    .allSatisfy(line -> assertThat(
                                    tested.contains(squeezed(line)) || line.startsWith("import dev.ratelimit.client."))
                            .as(line)
                            .isTrue());
            String code = block.replaceAll("(?m)^import .*\n", "");
            assertThat(code.split("\n\n(?=\\S)"))
                    .allSatisfy(part -> assertThat(tested).contains(squeezed(part)));
        });
    }

    private static String squeezed(String code) {
        return code.replace(" static class ", " class ").replaceAll("\\s+", "");
    }

    @Test
    void clients_ofThePage_areLimited() {
        ClientLimits limits = ClientLimits.builder()
                .policy(Policy.of("partners", TokenBucket.of(Rate.parse("10/second"))))
                .policy(Policy.of("partners/at-once", Concurrency.of(5)))
                .policy(Policy.of("search", TokenBucket.of(Rate.parse("30/minute"))), RequestKey.uriTemplate())
                .maxWait(Duration.ofSeconds(5))
                .build();

        RestClient client = RestClient.builder()
                .requestInterceptor(new RateLimitInterceptor(limits))
                .build();

        WebClient web =
                WebClient.builder().filter(new RateLimitExchangeFilter(limits)).build();

        try (LoopbackServer server = new LoopbackServer()) {
            assertThat(client.get().uri(server.url()).retrieve().body(String.class))
                    .isEqualTo("hello");
            assertThat(web.get()
                            .uri(server.url())
                            .retrieve()
                            .bodyToMono(String.class)
                            .block())
                    .isEqualTo("hello");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OutgoingCalls {

        @Bean
        ClientLimits clientLimits() {
            return ClientLimits.builder()
                    .policy(Policy.of("per-host", TokenBucket.of(Rate.parse("50/second"))))
                    .build();
        }

        @Bean
        RestClientCustomizer limitedRestClient(ClientLimits limits) {
            return builder -> builder.requestInterceptor(new RateLimitInterceptor(limits));
        }

        @Bean
        WebClientCustomizer limitedWebClient(ClientLimits limits) {
            return builder -> builder.filter(new RateLimitExchangeFilter(limits));
        }
    }

    @Test
    void builders_ofSpringBoot_areLimited() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(RestClientAutoConfiguration.class, WebClientAutoConfiguration.class))
                .withUserConfiguration(OutgoingCalls.class)
                .run(context -> {
                    context.getBean(RestClient.Builder.class)
                            .requestInterceptors(
                                    added -> assertThat(added).hasAtLeastOneElementOfType(RateLimitInterceptor.class));
                    context.getBean(WebClient.Builder.class)
                            .filters(added ->
                                    assertThat(added).hasAtLeastOneElementOfType(RateLimitExchangeFilter.class));
                });
    }

    static class Orders {

        private final RestClient client;

        Orders(RestClient client) {
            this.client = client;
        }

        @Retryable(includes = HttpClientErrorException.TooManyRequests.class, maxRetries = 2, delay = 0)
        public @Nullable String order(long id) {
            return client.get().uri("/orders/{id}", id).retrieve().body(String.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods
    static class Resilient {}

    @Test
    void retryable_aroundTheClient_waitsAsTheServerHasAsked() {
        try (LoopbackServer server = new LoopbackServer()) {
            server.answer(any -> server.requests() == 1
                    ? new LoopbackServer.Answer(429, "Retry-After", "1")
                    : LoopbackServer.Answer.OK);
            RestClient client = RestClient.builder()
                    .baseUrl(server.url())
                    .requestInterceptor(new RateLimitInterceptor(
                            ClientLimits.builder().jitter(Duration.ZERO).build()))
                    .build();
            new ApplicationContextRunner()
                    .withUserConfiguration(Resilient.class)
                    .withBean(Orders.class, () -> new Orders(client))
                    .run(context -> {
                        long start = System.nanoTime();

                        assertThat(context.getBean(Orders.class).order(7)).isEqualTo("hello");
                        assertThat(System.nanoTime() - start).isGreaterThan(900_000_000L);
                    });
            assertThat(server.requests()).isEqualTo(2);
        }
    }

    /** The server is not there, so its store decides in memory. */
    @Test
    void store_ofThePage_isUsed() {
        RedisClient redis = RedisClient.create("redis://redis.internal?timeout=3s");
        ClientLimits shared = ClientLimits.builder()
                .store(RedisStore.builder(redis).build())
                .executor(Executors.newFixedThreadPool(8))
                .build();

        try (LoopbackServer server = new LoopbackServer()) {
            WebClient web = WebClient.builder()
                    .filter(new RateLimitExchangeFilter(shared))
                    .build();
            assertThat(web.get()
                            .uri(server.url())
                            .retrieve()
                            .bodyToMono(String.class)
                            .block())
                    .isEqualTo("hello");
        }
        shared.store().close();
        redis.shutdown();
    }
}
