package dev.ratelimit.spring.boot.method;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import dev.ratelimit.spring.rules.config.CallCheck;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.service.annotation.HttpExchange;

/**
 * The methods whose calls are limited: those of beans with {@link RateLimited}, and of controllers only the handlers with
 * limits that depend on their arguments. The filter charges the others.
 */
public final class RateLimitedPointcut extends StaticMethodMatcherPointcut {

    private final StringValueResolver placeholders;
    private final Supplier<RateLimitProperties> properties;

    /**
     * Creates the pointcut.
     *
     * @param placeholders resolves placeholders in the attributes of annotations
     */
    public RateLimitedPointcut(StringValueResolver placeholders, Supplier<RateLimitProperties> properties) {
        this.placeholders = placeholders;
        this.properties = properties;
        setClassFilter(AnnotatedRules::anyOn);
    }

    /** Whether the methods of this class may handle requests. */
    public static boolean isController(Class<?> type) {
        return AnnotatedElementUtils.hasAnnotation(ClassUtils.getUserClass(type), Controller.class);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        CallTarget target = CallTarget.of(targetClass, method);
        return AnnotatedRules.mayLimitCallsOf(target.type(), target.method())
                && (!isController(target.type()) || isHandlerThatNeedsCall(target));
    }

    private boolean isHandlerThatNeedsCall(CallTarget target) {
        return (AnnotatedElementUtils.hasAnnotation(target.method(), RequestMapping.class)
                        || AnnotatedElementUtils.hasAnnotation(target.method(), HttpExchange.class))
                && CallCheck.mayNeedCall(target.type(), target.method(), placeholders, properties.get());
    }
}
