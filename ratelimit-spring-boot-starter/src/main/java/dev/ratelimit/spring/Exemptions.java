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

    /** Whether the request is one of them by its path. */
    public boolean includePath(Call call) {
        return paths.matchEveryForm(call);
    }

    /**
     * Whether the request is one of them, whatever its path.
     *
     * @param last whether Spring Security has run, so that whoever asks is known
     */
    public boolean include(Call call, boolean last) {
        return includeAddress(call)
                || (when != null
                        && (last || !when.needsPrincipal())
                        && when.test().test(call));
    }

    private boolean includeAddress(Call call) {
        IpAddress address = addresses.isEmpty() ? null : call.address();
        return address != null && AddressRange.anyContains(addresses, address);
    }
}
