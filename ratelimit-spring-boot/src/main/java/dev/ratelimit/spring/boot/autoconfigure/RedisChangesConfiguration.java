package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.spring.boot.redis.RedisChanges;
import dev.ratelimit.spring.boot.redis.RedisStoreClient;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.history.ChangeStore;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Changes of policies for all instances, with the store on Redis and if anything is limited. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({RedisStore.class, LettuceConnectionFactory.class})
@ConditionalOnBean(name = RedisStoreConfiguration.CLIENT, value = RequestRules.class)
class RedisChangesConfiguration {

    /** Shares changes from now on. The beans that it depends on adopt what others change. */
    @Bean("dev.ratelimit.redisChanges")
    @DependsOn({OperationConfiguration.LIVE_CHANGES, OperationConfiguration.KEY_OVERRIDES})
    RedisChanges rateLimitRedisChanges(
            RedisStoreClient client, RateLimitProperties properties, ChangeStore changes, ApplicationContext context) {
        Ticker ticker = context.getBeanProvider(Ticker.class).getIfAvailable(Ticker::system);
        RedisChanges shared = new RedisChanges(
                client.another(),
                properties.store().redis().prefix(),
                changes,
                context.getBeanProvider(Scheduler.class).getIfAvailable(() -> Scheduler.of(ticker)),
                ticker);
        changes.share(shared);
        return shared;
    }
}
