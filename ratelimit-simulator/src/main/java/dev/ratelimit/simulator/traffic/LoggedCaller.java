package dev.ratelimit.simulator.traffic;

import java.io.Serial;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AbstractAuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;

/** The caller of a request, and the claims of its token, as far as the log has them. */
final class LoggedCaller extends AbstractAuthenticationToken {

    @Serial
    private static final long serialVersionUID = 1L;

    private final String user;
    private final transient Map<String, Object> claims;

    private LoggedCaller(String user, Map<String, Object> claims) {
        super(List.of());
        this.user = user;
        this.claims = claims;
        setAuthenticated(true);
    }

    /** A caller without claims. */
    record Named(String name) implements Principal {

        @Override
        public String getName() {
            return name;
        }
    }

    static Principal of(String user, Map<String, Object> claims) {
        return claims.isEmpty() ? new Named(user) : new LoggedCaller(user, Map.copyOf(claims));
    }

    @Override
    public Object getCredentials() {
        return "";
    }

    @Override
    public Object getPrincipal() {
        return (ClaimAccessor) () -> claims;
    }

    @Override
    public String getName() {
        return user;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LoggedCaller same && same.user.equals(user) && same.claims.equals(claims);
    }

    @Override
    public int hashCode() {
        return user.hashCode();
    }
}
