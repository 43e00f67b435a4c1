package dev.ratelimit.benchmarks.webflux;

import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.AsyncProxyManager;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/**
 * A server with one endpoint, or with the profile {@code gateway} a gateway with one route, which answers by itself. A
 * profile selects the limiter: {@code none}, {@code ours}, on Redis with {@code redis}; for the gateway also its own,
 * {@code request-rate-limiter} and {@code bucket4j}. Prints its port.
 */
@SpringBootApplication
public class Server {

    /** Starts the server. */
    public static void main(String[] arguments) {
        SpringApplication.run(Server.class, arguments);
    }

    @Bean
    ApplicationListener<WebServerInitializedEvent> port() {
        return event -> System.out.println("port " + event.getWebServer().getPort());
    }

    /** The cheapest possible endpoint. */
    @Profile("!gateway")
    @RestController
    static class Hello {

        @GetMapping("/hello")
        Mono<String> hello() {
            return Mono.just("hello");
        }
    }

    /** Whose budget the gateway's own limiters charge. */
    @Profile("gateway")
    @Configuration(proxyBeanMethods = false)
    static class Keys {

        @Primary
        @Bean
        KeyResolver users() {
            return exchange ->
                    Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-User"));
        }
    }

    /** Where Bucket4j keeps its buckets: in Redis, on one connection, as the gateway's other limiter does. */
    @Profile("bucket4j")
    @Configuration(proxyBeanMethods = false)
    static class Buckets {

        @Bean(destroyMethod = "shutdown")
        RedisClient redis(@Value("${spring.data.redis.port}") int port) {
            return RedisClient.create(RedisURI.create("127.0.0.1", port));
        }

        @Bean
        AsyncProxyManager<String> buckets(RedisClient redis) {
            return Bucket4jLettuce.casBasedBuilder(
                            redis.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)))
                    .expirationAfterWrite(
                            ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10)))
                    .build()
                    .asAsync();
        }
    }
}
