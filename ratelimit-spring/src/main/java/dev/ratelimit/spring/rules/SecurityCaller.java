package dev.ratelimit.spring.rules;

import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/** The caller in Spring Security's context. Only used if Spring Security is present. */
final class SecurityCaller {

    private SecurityCaller() {}

    /** The authenticated caller of the current thread; {@code null} if there is none. */
    static @Nullable Principal principal() {
        Authentication caller = SecurityContextHolder.getContext().getAuthentication();
        boolean known = caller != null && caller.isAuthenticated() && !(caller instanceof AnonymousAuthenticationToken);
        return known ? caller : null;
    }
}
