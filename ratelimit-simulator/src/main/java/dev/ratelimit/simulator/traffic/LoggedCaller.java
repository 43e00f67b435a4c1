package dev.ratelimit.simulator.traffic;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;

/** The caller of a request, and the claims of its token, as far as the log has them. */
record LoggedCaller(String name, Map<String, Object> claims) implements Principal, ClaimAccessor {

    /** The caller as requests have it. */
    static Principal of(String user, Map<String, String> claims) {
        LoggedCaller caller = new LoggedCaller(user, Map.copyOf(claims));
        return claims.isEmpty() ? caller : UsernamePasswordAuthenticationToken.authenticated(caller, "", List.of());
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public Map<String, Object> getClaims() {
        return claims;
    }
}
