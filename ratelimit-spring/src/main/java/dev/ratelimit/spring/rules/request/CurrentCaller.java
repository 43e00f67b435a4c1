package dev.ratelimit.spring.rules.request;

import java.security.Principal;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.util.ClassUtils;

/** The caller of the current thread, as Spring Security knows it. Without Spring Security, there is none. */
public final class CurrentCaller {

    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.security.core.context.SecurityContextHolder", CurrentCaller.class.getClassLoader());

    /** Where Spring Security looks for the caller in asynchronous dispatches: RequestAttributeSecurityContextRepository. */
    private static final String ATTRIBUTE = "org.springframework.security.web.context"
            + ".RequestAttributeSecurityContextRepository.SPRING_SECURITY_CONTEXT";

    private CurrentCaller() {}

    /**
     * Keeps the caller in an attribute of a request that is going to wait. Filters of applications often set it for their
     * thread only; it would be unknown when Spring Security sees the request again.
     */
    public static void keep(BiConsumer<String, Object> attributes) {
        if (PRESENT) {
            SecurityCaller.keep(attributes);
        }
    }

    /** The authenticated caller of the current thread; {@code null} if there is none. */
    public static @Nullable Principal principal() {
        return PRESENT ? SecurityCaller.principal() : null;
    }

    /** The caller in the context of Spring Security. Only loaded if that is present. */
    private static final class SecurityCaller {

        static void keep(BiConsumer<String, Object> attributes) {
            SecurityContext context = SecurityContextHolder.getContext();
            if (context.getAuthentication() != null) {
                attributes.accept(ATTRIBUTE, context);
            }
        }

        static @Nullable Principal principal() {
            Authentication caller = SecurityContextHolder.getContext().getAuthentication();
            boolean known =
                    caller != null && caller.isAuthenticated() && !(caller instanceof AnonymousAuthenticationToken);
            return known ? caller : null;
        }
    }
}
