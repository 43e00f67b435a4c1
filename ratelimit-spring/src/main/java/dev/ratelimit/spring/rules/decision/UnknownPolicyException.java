package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.spring.rules.config.ExtraPolicies;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.Set;
import java.util.TreeSet;

/** Thrown if there is no policy of this name. */
public final class UnknownPolicyException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    UnknownPolicyException(String policy, Set<String> known) {
        super("there is no policy " + Quotation.of(policy) + Spelling.hint(policy, withExtra(known))
                + (known.isEmpty() ? "" : "; write one of " + known));
    }

    private static Set<String> withExtra(Set<String> known) {
        Set<String> all = new TreeSet<>(known);
        all.addAll(ExtraPolicies.names());
        return all;
    }
}
