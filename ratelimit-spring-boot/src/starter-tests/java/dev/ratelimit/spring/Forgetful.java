package dev.ratelimit.spring;

/** A bean of shared applications that remembers something, but only until the next test. */
public interface Forgetful {

    /** Forgets all, as if it were new. */
    void forget();
}
