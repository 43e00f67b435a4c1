package dev.ratelimit.spring.rules.rule;

/**
 * Knows the results of methods that tell when their work ends, although it goes on after the method has returned them. A
 * bean of the web stack, if it waits for such results.
 */
@FunctionalInterface
public interface WatchedResults {

    /** Whether the end of such a result is noticed. */
    boolean include(Class<?> result);
}
