package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.RedisStoreBuilder;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.redis.RedisStoreClient;
import dev.ratelimit.spring.boot.redis.RedisStoreEvents;
import dev.ratelimit.spring.boot.redis.RedisStoreObserver;
import dev.ratelimit.spring.boot.redis.RedisWarmUp;
import dev.ratelimit.spring.boot.redis.SlowHealthCheck;
import dev.ratelimit.spring.boot.spi.LimitValidator;
import dev.ratelimit.spring.boot.spi.StoreReport;
import dev.ratelimit.spring.boot.spi.StoreWarmUp;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.operation.QueuedEvents;
import io.lettuce.core.RedisClient;
import java.util.Map;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/** The store on Redis, if {@code ratelimit.store.type} is redis and all dependencies are present. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = RedisStoreConfiguration.TYPE, havingValue = "redis")
@ConditionalOnClass(
        value = {RedisStore.class, RedisClient.class, LettuceConnectionFactory.class},
        name = Boot.REDIS_DETAILS)
@ConditionalOnMissingBean(RateLimitStore.class)
class RedisStoreConfiguration {

    static final String TYPE = "ratelimit.store.type";

    private static final String MODE = "ratelimit.store.redis.mode";

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
    RedisStore rateLimitStore(
            RedisStoreClient client,
            RateLimitProperties properties,
            ObjectProvider<Ticker> ticker,
            ObjectProvider<Scheduler> scheduler,
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
        scheduler.ifAvailable(builder::scheduler);
        properties.onStoreFailure().forEach(builder::onStoreFailure);
        RedisStoreObserver observer =
                RedisStoreObserver.of(observers.orderedStream().toList());
        RedisStore store = builder.listener(observer).build();
        observer.watch(store);
        return store;
    }

    /** The store for all who charge or refund, in mode leased. */
    @Bean("dev.ratelimit.leasingStore")
    @Primary
    @ConditionalOnProperty(name = MODE, havingValue = "leased")
    LeasingStore rateLimitLeasingStore(
            RedisStore store,
            RateLimitProperties properties,
            ObjectProvider<Ticker> ticker,
            ObjectProvider<Scheduler> scheduler) {
        RateLimitProperties.Redis.Lease lease = properties.store().redis().lease();
        Ticker time = ticker.getIfAvailable(Ticker::system);
        return new LeasingStore(
                store,
                lease.fraction(),
                lease.maxAge(),
                RedisStore::decidedByRedis,
                time,
                scheduler.getIfAvailable(() -> Scheduler.of(time)));
    }

    @Bean("dev.ratelimit.storeEvents")
    RedisStoreEvents rateLimitStoreEvents(QueuedEvents events) {
        return new RedisStoreEvents(events::publish);
    }

    @Bean("dev.ratelimit.storeReport")
    StoreReport rateLimitStoreReport(RedisStore store) {
        return () -> Map.of("type", "redis", "available", store.available());
    }

    @Bean("dev.ratelimit.limitValidator")
    LimitValidator rateLimitLimitValidator() {
        return RedisStore::check;
    }

    @Bean("dev.ratelimit.storeWarmUp")
    StoreWarmUp rateLimitStoreWarmUp(RedisStore store, RateLimitProperties properties, ObjectProvider<Ticker> ticker) {
        return new RedisWarmUp(
                store,
                store::available,
                ticker.getIfAvailable(Ticker::system),
                properties.store().redis());
    }

    @Bean("dev.ratelimit.slowHealthCheck")
    SlowHealthCheck rateLimitSlowHealthCheck(ApplicationContext context) {
        return new SlowHealthCheck(context);
    }

    private static RateLimitConfigurationException mistake(String reason) {
        return new RateLimitConfigurationException(TYPE, "redis", "redis " + reason);
    }
}
