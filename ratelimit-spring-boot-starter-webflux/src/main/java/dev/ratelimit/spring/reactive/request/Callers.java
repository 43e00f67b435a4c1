package dev.ratelimit.spring.reactive.request;

import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/** What principals are, to Spring Security if it is present. */
final class Callers {

    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.authentication.AnonymousAuthenticationToken", Callers.class.getClassLoader());

    private Callers() {}

    /** The principal, unless it stands for nobody. */
    static @Nullable Principal known(Principal principal) {
        return SECURITY ? Secured.known(principal) : principal;
    }

    static boolean hasRole(Principal principal, String role) {
        return SECURITY && Secured.hasRole(principal, role);
    }

    /** Only loaded if Spring Security is present. */
    private static final class Secured {

        static @Nullable Principal known(Principal principal) {
            boolean nobody = principal instanceof Authentication caller
                    && (!caller.isAuthenticated() || caller instanceof AnonymousAuthenticationToken);
            return nobody ? null : principal;
        }

        static boolean hasRole(Principal principal, String role) {
            String authority = "ROLE_" + role;
            return principal instanceof Authentication caller
                    && caller.getAuthorities().stream().anyMatch(granted -> authority.equals(granted.getAuthority()));
        }
    }
}
