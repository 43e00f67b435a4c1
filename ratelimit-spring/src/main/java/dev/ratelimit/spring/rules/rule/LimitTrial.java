package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.Charge;
import dev.ratelimit.spring.rules.request.RequestContext;
import org.jspecify.annotations.Nullable;

/** The trial of other limits of a policy beside those in force, which refuses nobody. Thread-safe; never throws. */
public interface LimitTrial {

    /**
     * Decides about a request that no other policy refuses, as if the other limits were in force. Does nothing once the
     * trial is over.
     *
     * @param charge what the policy charges, or would charge
     * @param refused whether the policy refuses the request, or would without shadow mode
     * @param request only to be used until this method returns
     * @return gives back what the trial has charged; {@code null} if that is nothing
     */
    @Nullable
    Runnable decide(Charge charge, boolean refused, RequestContext request);
}
