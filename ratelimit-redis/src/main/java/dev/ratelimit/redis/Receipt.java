package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who decided which charges, and when, for a refund. All other charges belong to policies that admit while Redis fails.
 *
 * @param taken whether the charges were taken
 * @param serverNanos when a server decided a charge, or charged the lease that it was spent from, by that server's
 *     clock
 * @param here the charges decided in memory
 * @param memory the decision made in memory, if any
 */
record Receipt(
        boolean taken,
        IdentityHashMap<Charge, Long> serverNanos,
        Set<Charge> here,
        @Nullable Decision memory) {

    boolean byServers() {
        return !serverNanos.isEmpty();
    }
}
