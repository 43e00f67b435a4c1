package dev.ratelimit.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which requests no policy applies to. Immutable.
 *
 * @param addresses of these clients
 * @param paths to these paths
 * @param when under this condition, or {@code null}
 */
public record Exemptions(List<AddressRange> addresses, PathPatterns paths, RuleMatch.@Nullable Condition when) {

    /** None. */
    public static final Exemptions NONE = new Exemptions(List.of(), PathPatterns.NONE, null);

    /** Copies the list. */
    public Exemptions {
        addresses = List.copyOf(addresses);
    }

    /** Whether the request is one of them, as far as can be told at this stage. */
    public boolean include(Call call) {
        return paths.matchAny(call.path())
                || includeAddress(call)
                || (when != null && when.test().test(call));
    }

    private boolean includeAddress(Call call) {
        IpAddress address = addresses.isEmpty() ? null : call.address();
        if (address == null) {
            return false;
        }
        for (AddressRange range : addresses) {
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }
}
