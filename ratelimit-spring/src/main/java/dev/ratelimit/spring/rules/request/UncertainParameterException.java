package dev.ratelimit.spring.rules.request;

/** A parameter whose value nobody can tell: whoever answers the request may read another one than a rule. */
public final class UncertainParameterException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param why the value is uncertain
     */
    public UncertainParameterException(String why) {
        super(why);
    }
}
