package dev.ratelimit.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits a controller's method, or each method of a controller on its own. Adds to the policies of the configuration: a
 * request is charged against all of them, or none.
 *
 * <pre>{@code
 * @RateLimited("5/minute")                                // by user, this endpoint
 * @RateLimited(value = "5/minute; 50/day", key = "ip")    // several limits, by address
 * @RateLimited(policy = "reports", permits = 10)          // a policy of application.yml, at ten permits a call
 * }</pre>
 *
 * <p>On a method it replaces that of its class. Repeatable, and usable as a meta-annotation. A mistake stops the start.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(RateLimited.All.class)
public @interface RateLimited {

    /** One limit or several, such as {@code "5/minute; 50/day"}. Either this or {@link #policy}. */
    String value() default "";

    /** The capacity of a token bucket, in permits; 0 for as many as the limit permits in a period. */
    long burst() default 0;

    /** {@code token-bucket}, {@code fixed-window}, {@code sliding-window} or {@code sliding-log}. */
    String algorithm() default DEFAULT_ALGORITHM;

    /**
     * Whose budget: {@code user}, {@code principal}, {@code ip}, {@code endpoint}, {@code method}, {@code header:X}, or
     * several with commas. Not to be combined with {@link #policy}, which has a key of its own.
     */
    String key() default DEFAULT_KEY;

    /** The name of a policy of the configuration. Either this or {@link #value}. */
    String policy() default "";

    /** What one call costs; 0 is free. */
    long permits() default 1;

    /** {@link Mode#OFF} takes the limit away without taking the annotation away. */
    Mode mode() default Mode.ENFORCE;

    /** The user, or the address where there is none. */
    String DEFAULT_KEY = "user";

    /** Continuous refill. */
    String DEFAULT_ALGORITHM = "token-bucket";

    /** Holds several. */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.TYPE})
    @interface All {

        /** The limits, all of which apply. */
        RateLimited[] value();
    }
}
