package dev.ratelimit.spring.boot.method;

import dev.ratelimit.spring.rules.decision.CallLimiter;
import org.jspecify.annotations.Nullable;

/** Charges calls of limited methods to whoever calls them. */
public interface CallCharger {

    /** A call of the target; {@code null} if its calls are not limited. */
    CallLimiter.@Nullable Call call(CallTarget target, @Nullable Object[] arguments);

    /**
     * Charges the call.
     *
     * @throws dev.ratelimit.spring.RateLimitExceededException if a limit refuses it
     */
    void charge(CallLimiter.Call call, CallTarget target);
}
