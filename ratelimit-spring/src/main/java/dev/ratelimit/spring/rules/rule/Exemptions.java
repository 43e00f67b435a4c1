package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.path.PathPatterns;
import dev.ratelimit.spring.rules.request.Condition;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which requests are exempt from all policies. Immutable.
 *
 * @param addresses exempt clients
 * @param paths exempt paths
 * @param when the condition of exempt requests, or {@code null}
 * @param management whether management endpoints are exempt, except from policies that name their paths
 */
public record Exemptions(
        List<AddressRange> addresses,
        PathPatterns paths,
        @Nullable Condition when,
        boolean management) {

    /** No exemptions. */
    public static final Exemptions NONE = new Exemptions(List.of(), PathPatterns.NONE, null, false);

    /** Copies the list. */
    public Exemptions {
        addresses = List.copyOf(addresses);
    }

    /**
     * What it depends on whether a request is exempt, besides its path and its endpoint.
     *
     * @param authenticated whether Spring Security has run, so that the caller is known
     */
    public Reads reads(boolean authenticated) {
        Reads reads = addresses.isEmpty() ? Reads.NOTHING : Reads.of(Fact.ADDRESS);
        return when == null || !mayAsk(when, authenticated) ? reads : reads.and(when.reads());
    }

    /** Whether every path is exempt. */
    public boolean includeAllPaths() {
        return paths.areEverything();
    }

    /** Whether the request is exempt by its path. */
    public boolean includePath(RequestContext context) {
        return paths.matchEveryForm(context);
    }

    /** Whether the request leads to a management endpoint, and such requests are exempt. */
    public boolean includeManagement(RequestContext context) {
        return management && context.leadsToManagement();
    }

    /**
     * Whether the condition of exempt requests holds.
     *
     * @param authenticated whether Spring Security has run, so that the caller is known
     */
    public boolean conditionHolds(RequestContext context, boolean authenticated) {
        return when != null && mayAsk(when, authenticated) && when.test().test(context);
    }

    private static boolean mayAsk(Condition when, boolean authenticated) {
        return authenticated || !when.needsPrincipal();
    }

    /** Whether the request is exempt by the client's address. */
    public boolean includeAddress(RequestContext context) {
        IpAddress address = addresses.isEmpty() ? null : context.address();
        return address != null && AddressRange.anyContains(addresses, address) && !context.hasProxyAddress();
    }
}
