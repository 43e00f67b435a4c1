package dev.ratelimit.spring.boot.autoconfigure;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Whether {@code ratelimit.enabled} is true or missing. */
public final class OnRateLimitsEnabled implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        // what is decided while code is generated also applies at run time, where the property may have another value
        return Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING) || in(context.getEnvironment());
    }

    public static boolean in(Environment environment) {
        return BoundProperty.of(environment, "ratelimit.enabled", true);
    }
}
