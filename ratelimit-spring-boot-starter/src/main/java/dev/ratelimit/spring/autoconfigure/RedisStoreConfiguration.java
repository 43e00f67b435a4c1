package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreBuilder;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.config.LimitCheck;
import dev.ratelimit.spring.config.RateLimitProperties;
import io.lettuce.core.RedisClient;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The store on Redis, where {@code ratelimit.store.type} says so and all that it takes is there. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = RedisStoreConfiguration.TYPE, havingValue = "redis")
@ConditionalOnClass({
    RedisStore.class,
    RedisClient.class,
    LettuceConnectionFactory.class,
    DataRedisConnectionDetails.class
})
@ConditionalOnMissingBean(RateLimitStore.class)
class RedisStoreConfiguration {

    static final String TYPE = "ratelimit.store.type";

    /** The bean that is there where the store is this one. */
    static final String CLIENT = "rateLimitRedisClient";

    /** What is asked about before there are requests, which would have to wait for classes to be loaded, too. */
    private static final Policy FIRST = Policy.of("first", TokenBucket.of(Rate.parse("1/second")));

    @Bean(CLIENT)
    RedisStoreClient rateLimitRedisClient(
            ObjectProvider<RedisConnectionFactory> connections, ObjectProvider<DataRedisConnectionDetails> details) {
        DataRedisConnectionDetails known = details.getIfAvailable();
        if (known != null && known.getMasterReplica() != null) {
            throw mistake("needs to know which server is the master, and spring.data.redis.masterreplica does not say;"
                    + " write spring.data.redis.host or spring.data.redis.sentinel");
        }
        RedisConnectionFactory connection = connections.getIfUnique();
        if (connection instanceof LettuceConnectionFactory lettuce) {
            return new RedisStoreClient(lettuce);
        }
        if (connection != null) {
            throw mistake("needs Lettuce, and the connection is a "
                    + connection.getClass().getSimpleName() + "; write spring.data.redis.client-type: lettuce");
        }
        throw connections.stream().findAny().isPresent()
                ? mistake("finds several beans of type RedisConnectionFactory; mark one of them as @Primary")
                : mistake("finds no connection, which DataRedisAutoConfiguration makes; do not exclude that");
    }

    @Bean
    RedisStore rateLimitStore(
            RedisStoreClient client,
            RateLimitProperties properties,
            ObjectProvider<Ticker> ticker,
            ObjectProvider<RedisStoreObserver> observers) {
        RateLimitProperties.Redis settings = properties.store().redis();
        RedisStoreBuilder builder = client.newStore()
                .prefix(settings.prefix())
                .deadline(settings.deadline())
                .maxInFlight(settings.maxInFlight())
                .failures(settings.failures())
                .openFor(settings.openFor())
                .localShare(settings.localShare())
                .denyCache(settings.denyCache())
                .ticker(ticker.getIfAvailable(Ticker::system));
        properties.policies().forEach((name, policy) -> builder.onStoreFailure(name, policy.onStoreFailure()));
        if (settings.mode() == RateLimitProperties.Redis.Mode.LEASED) {
            builder.leased(settings.lease().fraction(), settings.lease().maxAge());
        }
        observers.ifAvailable(builder::listener);
        RedisStore store = builder.build();
        observers.ifAvailable(observer -> observer.watch(store));
        store.connect().thenRun(() -> store.peek(List.of(FIRST.charge())));
        return store;
    }

    @Bean
    LimitCheck rateLimitCheck() {
        return RedisStore::check;
    }

    private static RateLimitConfigurationException mistake(String reason) {
        return new RateLimitConfigurationException(TYPE, "redis", "redis " + reason);
    }
}
