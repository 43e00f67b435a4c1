package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.rules.CallLimiter;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/** Charges calls of limited methods, and calls their fallbacks if a limit refuses. Thread-safe. */
final class RateLimitedInterceptor implements MethodInterceptor {

    private final Supplier<@Nullable CallCharger> charger;

    /**
     * Creates the interceptor.
     *
     * @param charger obtained at the first call; {@code null} if nothing is limited
     */
    RateLimitedInterceptor(Supplier<@Nullable CallCharger> charger) {
        this.charger = charger;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        CallCharger limits = charger.get();
        if (limits == null) {
            return invocation.proceed();
        }
        Object target = invocation.getThis();
        CallTarget called = CallTarget.of(
                target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target),
                invocation.getMethod());
        CallLimiter.Call call = limits.call(called, invocation.getArguments());
        if (call != null) {
            try {
                limits.charge(call, called);
            } catch (RateLimitExceededException e) {
                return call.fallBack(target, e);
            }
        }
        return invocation.proceed();
    }
}
