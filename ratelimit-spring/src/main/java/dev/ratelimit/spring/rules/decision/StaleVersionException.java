package dev.ratelimit.spring.rules.decision;

/** Thrown if a policy is to be changed from a version that it no longer has. */
public final class StaleVersionException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    StaleVersionException(PolicyVersion now) {
        super("the policy was changed meanwhile, and is " + now + " now; look at it before you change it");
    }
}
