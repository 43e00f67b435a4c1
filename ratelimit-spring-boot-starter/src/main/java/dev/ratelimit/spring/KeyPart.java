package dev.ratelimit.spring;

/** One of the properties of a request that make its key. Implementations are immutable. */
public interface KeyPart {

    /**
     * Adds the request's value.
     *
     * @return whether it has one; if not, nothing was added
     */
    boolean appendTo(KeyEncoder key, Call call);

    /**
     * Adds the value that is written somewhere, as if a request had it, for comparison.
     *
     * @return whether it can be a value of this part
     */
    boolean appendTo(KeyEncoder key, String written);

    /** Whether the value is the caller's own, so that telling what is left of its budget tells nothing of others. */
    boolean isOwn(Call call);

    /** Whether the endpoint has to be known. */
    default boolean needsEndpoint() {
        return false;
    }

    /** Whether there may be a value only after Spring Security has run. */
    default boolean needsSecurity() {
        return false;
    }

    /** Whether there can be no value before Spring Security has run. */
    default boolean needsPrincipal() {
        return false;
    }
}
