package dev.ratelimit.spring.boot.method;

import dev.ratelimit.spring.rules.decision.CallLimiter;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Charges calls of limited methods to whoever calls them. */
public interface CallCharger {

    /** A call of the target; {@code null} if its calls are not limited. */
    CallLimiter.@Nullable Call call(CallTarget target, @Nullable Object[] arguments);

    /**
     * Charges a call whose result comes to whoever subscribes to it: at each subscription, which only then calls the
     * method.
     *
     * @return what the caller gets; {@code null} if the call is charged now
     */
    default @Nullable Object later(MethodInvocation invocation, CallTarget target) {
        return null;
    }

    /**
     * Charges the call.
     *
     * @throws dev.ratelimit.spring.RateLimitExceededException if a limit refuses it
     */
    void charge(CallLimiter.Call call, CallTarget target);
}
