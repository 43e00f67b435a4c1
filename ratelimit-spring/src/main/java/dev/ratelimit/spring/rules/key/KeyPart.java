package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A property of a request that is part of its key. Implementations are immutable. */
public interface KeyPart {

    /**
     * Appends the request's value.
     *
     * @return whether there is one; if not, nothing was appended
     */
    boolean appendTo(KeyEncoder key, RequestContext context);

    /**
     * Appends a configured value as if a request had it, for comparison.
     *
     * @return whether this part can have the value
     */
    boolean appendTo(KeyEncoder key, String written);

    /** Whether the value belongs to the caller, so that showing its budget reveals nothing about others. */
    boolean identifiesCaller(RequestContext context);

    /** The name of the header that has the value, in lower case; {@code null} if the value is not in a header. */
    default @Nullable String header() {
        return null;
    }

    /** Whether the value may be unknown before Spring Security has run. */
    default boolean needsSecurity() {
        return false;
    }

    /** The names of the method's parameters that the value depends on; with any, it is known when they are bound. */
    default Set<String> arguments() {
        return Set.of();
    }

    /** Whether the value depends on who the caller is, which is unknown before Spring Security has run. */
    default boolean needsPrincipal() {
        return false;
    }
}
