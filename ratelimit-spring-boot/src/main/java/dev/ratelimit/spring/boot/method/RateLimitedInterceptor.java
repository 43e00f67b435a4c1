package dev.ratelimit.spring.boot.method;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.rules.decision.CallLimiter;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;

/** Charges calls of limited methods, and calls their fallbacks if a limit refuses. Thread-safe. */
public final class RateLimitedInterceptor implements MethodInterceptor {

    private final Supplier<@Nullable CallCharger> charger;

    /** By the called method and the class of the object, because looking for them takes time. */
    private final Map<MethodClassKey, CallTarget> targets = new ConcurrentHashMap<>();

    /**
     * Creates the interceptor.
     *
     * @param charger obtained at the first call; {@code null} if nothing is limited
     */
    public RateLimitedInterceptor(Supplier<@Nullable CallCharger> charger) {
        this.charger = charger;
    }

    /** Obtains the charger before the first call. */
    public void prepare() {
        CallCharger unused = charger.get();
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        CallCharger limits = charger.get();
        if (limits == null) {
            return invocation.proceed();
        }
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        CallTarget called = targets.computeIfAbsent(
                new MethodClassKey(invocation.getMethod(), type), key -> CallTarget.of(type, invocation.getMethod()));
        Object later = limits.later(invocation, called);
        if (later != null) {
            return later;
        }
        CallLimiter.Call call = limits.call(called, invocation.getArguments());
        if (call != null) {
            try {
                limits.charge(call, called);
            } catch (RateLimitExceededException e) {
                return call.fallBack(target, e);
            }
            if (call.holds()) {
                return proceedHolding(invocation, call);
            }
        }
        return invocation.proceed();
    }

    /** Returns the permits when the method has returned or, if its result comes later, when that is there. */
    private static @Nullable Object proceedHolding(MethodInvocation invocation, CallLimiter.Call call)
            throws Throwable {
        boolean later = false;
        try {
            Object result = invocation.proceed();
            if (result instanceof CompletionStage<?> stage) {
                Object held = HeldResult.of(stage, invocation.getMethod().getReturnType(), call::end);
                later = true;
                return held;
            }
            return result;
        } finally {
            if (!later) {
                call.end();
            }
        }
    }
}
