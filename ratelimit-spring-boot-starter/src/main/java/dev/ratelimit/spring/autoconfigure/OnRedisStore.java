package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.rules.config.RateLimitProperties.Store;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Whether {@code ratelimit.store.type} is redis. */
final class OnRedisStore implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return BoundProperty.of(context.getEnvironment(), RedisStoreConfiguration.TYPE, Store.Type.MEMORY)
                == Store.Type.REDIS;
    }
}
