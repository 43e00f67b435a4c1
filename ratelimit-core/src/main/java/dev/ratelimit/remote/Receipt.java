package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who decided which charges, and when, for a refund.
 *
 * @param taken whether the charges were taken
 * @param parts one for each charge of the decision, which no longer change
 * @param memory the decision made in memory, if any
 */
record Receipt(boolean taken, List<Part> parts, @Nullable Decision memory) {

    /** Whether a server took part in the decision. */
    boolean byServers() {
        return parts.stream().anyMatch(Part::byServer);
    }

    /** What became of this charge, which is one of the decision's. */
    Part of(Charge charge) {
        return of(parts, charge);
    }

    /** The part of a charge; few charges make a decision. */
    @SuppressWarnings("ReferenceEquality") // it is the same object
    static Part of(List<Part> parts, Charge charge) {
        for (Part part : parts) {
            if (part.charge() == charge) {
                return part;
            }
        }
        throw new IllegalArgumentException("not a charge of this decision");
    }
}
