package dev.ratelimit.spring.rules;

import dev.ratelimit.spring.RateLimitExceededException;
import java.util.List;

/** The refusal of a call, with the state of its limits for the headers of a response. */
final class RefusedCall extends RateLimitExceededException {

    private static final long serialVersionUID = 1;

    private final transient RefusalWriter.Refusal refusal;
    private final transient List<StageCharges> stages;
    private final transient RequestContext context;

    /**
     * Creates the exception.
     *
     * @param stages what the request was charged, if there is one, and last what refused the call
     */
    RefusedCall(RefusalWriter.Refusal refusal, List<StageCharges> stages, RequestContext context) {
        super(refusal.rejection());
        this.refusal = refusal;
        this.stages = stages;
        this.context = context;
    }

    RefusalWriter.Refusal refusal() {
        return refusal;
    }

    List<StageCharges> stages() {
        return stages;
    }

    RequestContext context() {
        return context;
    }
}
