package dev.ratelimit.spring.boot.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.RedisReplication;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The store connects where and how {@code spring.data.redis} says. */
@Tag("servers")
class RedisStoreClientTest {

    private static final Policy POLICY = Policy.of("each", TokenBucket.of(Rate.parse("2/hour")));

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(
                    OnBoot.webMvc(SslAutoConfiguration.class, OnBoot.REDIS, RateLimitAutoConfiguration.class))
            .withPropertyValues("ratelimit.store.type=redis", "ratelimit.store.redis.deadline=10s");

    /** Redis admits two requests and refuses the third. */
    private static void decides(ApplicationContext context, String key) {
        RedisStore store = context.getBean(RedisStore.class);
        // on a slow machine, an attempt may take longer than the store's timeout
        await().until(() -> RedisStore.decidedByRedis(store.peek(List.of(POLICY.charge("warm-up")))));

        assertThat(RedisStore.decidedByRedis(store.decide(List.of(POLICY.charge(key)))))
                .isTrue();
        assertThat(store.tryCharge(POLICY.charge(key))).isTrue();
        assertThat(store.tryCharge(POLICY.charge(key))).isFalse();
        assertThat(store.available()).isTrue();
    }

    @Test
    void standalone_withUserPasswordDatabaseAndName() {
        try (RedisServer server = RedisServer.start("--user", "limits", "on", ">secret", "~ratelimit:*", "+@all")) {
            runner.withPropertyValues(
                            "spring.data.redis.port=" + server.port(),
                            "spring.data.redis.username=limits",
                            "spring.data.redis.password=secret",
                            "spring.data.redis.database=3",
                            "spring.data.redis.client-name=shop")
                    .run(context -> {
                        decides(context, "alice");
                        String clients = server.ask(redis -> redis.clientList());
                        List<String> keys = server.ask(redis -> {
                            redis.select(3);
                            return redis.keys("ratelimit:each:*");
                        });
                        assertThat(clients).contains("name=shop").contains("db=3");
                        assertThat(keys).hasSize(1);
                    });
        }
    }

    @Test
    void sentinel_namesTheMaster() {
        try (RedisReplication servers = RedisReplication.start()) {
            runner.withPropertyValues(
                            "spring.data.redis.sentinel.master=" + RedisReplication.MASTER_ID,
                            "spring.data.redis.sentinel.nodes=127.0.0.1:"
                                    + servers.sentinel().port())
                    .run(context -> decides(context, "alice"));
        }
    }

    @Test
    void cluster_isAsked() {
        try (RedisCluster cluster = RedisCluster.start()) {
            String nodes = cluster.uris().stream()
                    .map(RedisURI::getPort)
                    .map(port -> "127.0.0.1:" + port)
                    .collect(Collectors.joining(","));

            runner.withPropertyValues("spring.data.redis.cluster.nodes=" + nodes)
                    .run(context -> {
                        decides(context, "alice");
                        decides(context, "bob");
                        assertThat(derived(context).getRequiredNativeClient()).isInstanceOf(RedisClusterClient.class);
                    });
        }
    }

    @Test
    void tls_andTheApplicationsResources_areTaken_butNotItsPatience() {
        runner.withPropertyValues(
                        "spring.data.redis.host=redis.example",
                        "spring.data.redis.ssl.enabled=true",
                        "spring.data.redis.timeout=60s",
                        "spring.data.redis.connect-timeout=60s")
                .run(context -> {
                    LettuceClientConfiguration own = derived(context).getClientConfiguration();
                    LettuceClientConfiguration application =
                            context.getBean(LettuceConnectionFactory.class).getClientConfiguration();

                    assertThat(derived(context).getHostName()).isEqualTo("redis.example");
                    assertThat(own.isUseSsl()).isTrue();
                    assertThat(own.getVerifyMode()).isEqualTo(application.getVerifyMode());
                    assertThat(own.getClientResources()).isEqualTo(application.getClientResources());
                    assertThat(own.getCommandTimeout()).isEqualTo(RedisStoreClient.PATIENCE);
                    assertThat(own.getClientOptions()
                                    .orElseThrow()
                                    .getSocketOptions()
                                    .getConnectTimeout())
                            .isEqualTo(RedisStoreClient.PATIENCE);
                    assertThat(application.getCommandTimeout()).isEqualTo(Duration.ofSeconds(60));
                    assertThat(application.getClientOptions().orElseThrow().isAutoReconnect())
                            .isTrue();
                });
    }

    private static LettuceConnectionFactory derived(ApplicationContext context) {
        return context.getBean(RedisStoreClient.class).factory();
    }
}
