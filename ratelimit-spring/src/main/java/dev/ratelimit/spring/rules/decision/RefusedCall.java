package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The refusal of a call, with the state of its limits for the headers of a response. */
final class RefusedCall extends RateLimitExceededException {

    private static final long serialVersionUID = 1;

    private final transient RefusalWriter.Refusal refusal;
    private final transient List<StageCharges> stages;
    private final transient RequestContext context;
    private final transient @Nullable ChargedRequest request;

    /**
     * Creates the exception.
     *
     * @param request the request that was refused, or during which the call was; {@code null} if there is none
     * @param stages what the request was charged, if there is one, and last what refused the call
     */
    RefusedCall(
            RefusalWriter.Refusal refusal,
            @Nullable ChargedRequest request,
            List<StageCharges> stages,
            RequestContext context) {
        super(refusal.rejection());
        this.refusal = refusal;
        this.stages = stages;
        this.context = context;
        this.request = request;
    }

    RefusalWriter.Refusal refusal() {
        return refusal;
    }

    List<StageCharges> stages() {
        return stages;
    }

    /** Whether it answers this request; another one may have the same exception, from a future that both share. */
    boolean isOf(@Nullable ChargedRequest other) {
        return request != null && request == other;
    }

    RequestContext context() {
        return context;
    }
}
