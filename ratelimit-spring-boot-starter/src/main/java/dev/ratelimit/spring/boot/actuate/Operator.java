package dev.ratelimit.spring.boot.actuate;

import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** Whoever changes policies and resets keys at the moment. */
public final class Operator {

    private static final String ANONYMOUS = "anonymous";

    private Operator() {}

    /** The name of the caller of the current request; {@code null} if there is none. */
    public static @Nullable String name() {
        if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current)) {
            return null;
        }
        Principal principal = current.getRequest().getUserPrincipal();
        return principal == null ? ANONYMOUS : principal.getName();
    }
}
