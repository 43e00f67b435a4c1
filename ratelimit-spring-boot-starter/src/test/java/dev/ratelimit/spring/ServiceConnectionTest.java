package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.server.RedisServer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

/** The store connects to the container of a {@code @ServiceConnection}, as a page shows. No Docker is needed here. */
@SpringBootTest(
        classes = ServiceConnectionTest.Application.class,
        properties = {
            "ratelimit.store.type=redis",
            "ratelimit.store.redis.deadline=10s",
            "ratelimit.policies.api.limit=2/hour",
            "spring.data.redis.port=1"
        })
@OnBoot.MockMvc
@Testcontainers
@Tag("servers")
class ServiceConnectionTest {

    /** Looks like a container, and starts a server on this machine. */
    static final class LocalContainer extends GenericContainer<LocalContainer> {

        private @Nullable RedisServer server;

        LocalContainer() {
            super("redis:8");
        }

        RedisServer server() {
            if (server == null) {
                throw new IllegalStateException("not started");
            }
            return server;
        }

        @Override
        public void start() {
            server = RedisServer.start();
        }

        @Override
        public void stop() {
            server().close();
        }

        @Override
        public boolean isRunning() {
            return server != null;
        }

        @Override
        public String getDockerImageName() {
            return "redis:8";
        }

        @Override
        public String getHost() {
            return "127.0.0.1";
        }

        @Override
        public Integer getFirstMappedPort() {
            return server().port();
        }

        @Override
        public Integer getMappedPort(int port) {
            return server().port();
        }
    }

    @Container
    @ServiceConnection
    static final LocalContainer REDIS = new LocalContainer();

    @Configuration(proxyBeanMethods = false)
    static class Application {
        @Bean
        TestApi api() {
            return new TestApi();
        }
    }

    @Autowired
    private MockMvcTester mvc;

    @Test
    void limit_isKeptInTheContainer(@Autowired RateLimitStore store) {
        // on a busy machine, the start does not wait until there is a connection
        Policy other = Policy.of("other", TokenBucket.of(Rate.parse("1/hour")));
        await().until(() -> RedisStore.decidedByRedis(store.peek(List.of(other.charge("k")))));

        assertThat(mvc.get().uri("/any")).hasStatusOk();
        assertThat(mvc.get().uri("/any")).hasStatusOk();
        assertThat(mvc.get().uri("/any")).hasStatus(429);

        List<String> keys = REDIS.server().ask(redis -> redis.keys("ratelimit:api*"));
        assertThat(keys).hasSize(1);
    }
}
