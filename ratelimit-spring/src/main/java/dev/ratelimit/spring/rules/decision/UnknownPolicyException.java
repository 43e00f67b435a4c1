package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.Set;

/** Thrown if there is no policy of this name. */
public final class UnknownPolicyException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    UnknownPolicyException(String policy, Set<String> known) {
        super("there is no policy " + Quotation.of(policy) + Spelling.hint(policy, known)
                + (known.isEmpty() ? "" : "; write one of " + known));
    }
}
