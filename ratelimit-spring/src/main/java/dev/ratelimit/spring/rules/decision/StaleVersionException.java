package dev.ratelimit.spring.rules.decision;

/** Thrown if a policy, or the override of a key, is to be changed from a version that it no longer has. */
public final class StaleVersionException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /** The version that it has now. */
    private final String version;

    /**
     * Something was changed meanwhile.
     *
     * @param what it is now
     * @param version that it has now
     */
    public StaleVersionException(String what, String version) {
        super(what + "; look at it before you change it");
        this.version = version;
    }

    /** The version that it has now. */
    public String version() {
        return version;
    }
}
