package dev.ratelimit.spring.rules.decision;

/** Thrown if a policy, or the override of a key, is to be changed from a version that it no longer has. */
public final class StaleVersionException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /**
     * Something was changed meanwhile.
     *
     * @param what it is now
     */
    public StaleVersionException(String what) {
        super(what + "; look at it before you change it");
    }
}
