package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreBuilder;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.redis.RedisStoreClient;
import dev.ratelimit.spring.boot.redis.SlowHealthCheck;
import dev.ratelimit.spring.boot.spi.LimitValidator;
import dev.ratelimit.spring.boot.store.StoreObserver;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import io.lettuce.core.RedisClient;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/** The store on Redis, if {@code ratelimit.store.type} is redis and all dependencies are present. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = RemoteStoreConfiguration.TYPE, havingValue = "redis")
@ConditionalOnClass(
        value = {RedisStore.class, RedisClient.class, LettuceConnectionFactory.class},
        name = Boot.REDIS_DETAILS)
@ConditionalOnMissingBean(RateLimitStore.class)
class RedisStoreConfiguration {

    /** The name of a bean that exists only with this store. */
    static final String CLIENT = "dev.ratelimit.redisClient";

    @Bean(CLIENT)
    RedisStoreClient rateLimitRedisClient(ObjectProvider<RedisConnectionFactory> connections, BeanFactory beans) {
        if (Boot.hidesMaster(beans)) {
            throw mistake("needs to know the master, which spring.data.redis.masterreplica does not name; write"
                    + " spring.data.redis.host or spring.data.redis.sentinel");
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
                ? mistake("finds several beans of type RedisConnectionFactory; annotate one of them with @Primary")
                : mistake("finds no bean of type RedisConnectionFactory; " + ClassUtils.getShortName(Boot.REDIS)
                        + " declares one, so do not exclude it");
    }

    @Bean("dev.ratelimit.store")
    RedisStore rateLimitStore(RedisStoreClient client, RateLimitProperties properties, BeanFactory beans) {
        RedisStoreBuilder builder =
                client.newStore().prefix(properties.store().redis().prefix());
        StoreObserver observer = RemoteStoreConfiguration.configure(
                builder, properties.store().redis(), properties.onStoreFailure(), beans);
        RedisStore store = builder.build();
        observer.watch(store);
        return store;
    }

    @Bean("dev.ratelimit.limitValidator")
    LimitValidator rateLimitLimitValidator() {
        return RedisStore::check;
    }

    @Bean("dev.ratelimit.slowHealthCheck")
    SlowHealthCheck rateLimitSlowHealthCheck(ApplicationContext context) {
        return new SlowHealthCheck(context);
    }

    private static RateLimitConfigurationException mistake(String reason) {
        return new RateLimitConfigurationException(RemoteStoreConfiguration.TYPE, "redis", "redis " + reason);
    }
}
