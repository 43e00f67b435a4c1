package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.server.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The example of several instances in docs/redis.md: two of them, on a real server and a real Redis. */
@Tag("servers")
class SharedBudgetTest {

    private static final Policy WARM_UP = Policy.of("warm-up", TokenBucket.of(Rate.parse("1/hour")));

    private final HttpClient http = HttpClient.newHttpClient();

    private static ConfigurableApplicationContext start(RedisServer redis) {
        ConfigurableApplicationContext app = new SpringApplicationBuilder(SampleApplication.class)
                .profiles("redis")
                .run(
                        "--server.port=0",
                        "--spring.data.redis.port=" + redis.port(),
                        // for slow machines
                        "--ratelimit.store.redis.deadline=10s");
        RedisStore store = app.getBean(RedisStore.class);
        await().until(() -> RedisStore.decidedByRedis(store.peek(List.of(WARM_UP.charge()))));
        return app;
    }

    private int login(ConfigurableApplicationContext app) throws IOException, InterruptedException {
        String port = app.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/login"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("user=alice&password=guess"))
                .build();
        HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
        return response.statusCode();
    }

    @Test
    @Tag("slow")
    void login_onTwoInstances_hasFiveAttemptsInAll() throws IOException, InterruptedException {
        try (RedisServer redis = RedisServer.start();
                ConfigurableApplicationContext first = start(redis);
                ConfigurableApplicationContext second = start(redis)) {
            for (int i = 0; i < 5; i++) {
                assertThat(login(i % 2 == 0 ? first : second)).isEqualTo(401);
            }

            assertThat(login(first)).isEqualTo(429);
            assertThat(login(second)).isEqualTo(429);
        }
    }
}
