package dev.ratelimit.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits a method of a controller or of another bean; on a class, each of a controller's handler methods or each public
 * method of another bean separately. On a controller, it adds to the configured policies: a request is charged to all
 * of them or to none. On another bean, a call is charged to all limits of the method or to none, and a refused call
 * throws a {@link RateLimitExceededException}.
 *
 * <pre>{@code
 * @RateLimited("5/minute")                                // by user, this endpoint
 * @RateLimited(value = "5/minute; 50/day", key = "ip")    // several limits, by address
 * @RateLimited(policy = "reports", permits = 10)          // a policy of application.yml, at ten permits a call
 * @RateLimited(value = "3/hour", key = "#login.username") // by an argument of the method
 * }</pre>
 *
 * <p>On a method, it replaces the annotation of the class. Repeatable, and usable as a meta-annotation. Placeholders
 * such as {@code "${login.limit}"} are resolved in all attributes. A mistake stops the start, and so does an annotation
 * without effect, such as on a private method. Calls within the same object are not limited.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(RateLimited.All.class)
public @interface RateLimited {

    /**
     * {@return the limit, {@code N/period}, such as {@code "5/minute"}} Several limits are separated by semicolons, and
     * all of them apply: {@code "5/minute; 50/day"}. A period is {@code second}, {@code minute}, {@code hour} or
     * {@code day}, a number with a unit ({@code 250ms}, {@code 10s}, {@code 5m}, {@code 24h}), or an ISO duration
     * ({@code PT10S}). With the algorithm {@code concurrency}, it is the number of calls at once, such as {@code "2"},
     * each for at most ten minutes. Set either this or {@link #policy}.
     */
    String value() default "";

    /**
     * {@return the name of the limit in response headers, refusals and metrics: 1 to 100 printable ASCII characters
     * without quotes and backslashes, unique among all limits and policies} By default, it is the class and the method,
     * as in {@code LoginController.login}. A name on a class replaces the class name: {@code reports.list}. Not allowed
     * with {@link #policy}, which has its own name.
     */
    String name() default "";

    /** {@return the capacity of a token bucket, in permits; 0 for the permits of one period} */
    long burst() default 0;

    /**
     * {@return {@code token-bucket}, {@code fixed-window}, {@code sliding-window}, {@code sliding-log} or
     * {@code concurrency}}
     */
    String algorithm() default DEFAULT_ALGORITHM;

    /**
     * {@return whose budget} Several parts are separated by commas, as in {@code "user, endpoint"}:
     *
     * <ul>
     *   <li>{@code user} the name of the principal, or the client's address if there is no principal
     *   <li>{@code principal} the name of the principal
     *   <li>{@code ip} the client's address
     *   <li>{@code endpoint} the endpoint, one budget for all callers
     *   <li>{@code method} the HTTP method
     *   <li>{@code session} the session's id
     *   <li>{@code header:X}, {@code cookie:x}, {@code query:x} the value that the client sends
     *   <li>{@code path:x} a variable in the path of the mapping
     *   <li>{@code claim:x} a claim of the token or login
     *   <li>{@code bean:name} the result of a {@link KeyResolver} bean
     *   <li>{@code #...} an expression, as in {@code "#request.getHeader('X-Tenant')"}, or about the arguments of the
     *       method, as in {@code "#login.username"} or {@code "#a0.username"}
     * </ul>
     *
     * If a part has no value, the client's address replaces it. Not allowed with {@link #policy}, which has its own
     * key.
     */
    String key() default DEFAULT_KEY;

    /** {@return the name of a configured policy} Set either this or {@link #value}. */
    String policy() default "";

    /**
     * {@return how many permits one call costs} 0 is free, and allowed only with {@link #policy} or {@link Mode#OFF}.
     */
    long permits() default 1;

    /**
     * {@return how many permits one call costs, as an expression, such as {@code "#order.items.size()"} or
     * {@code "#request.contentLengthLong / 1000 + 1"}; rounded up, and 1 if it fails} Set either this or
     * {@link #permits}.
     */
    String cost() default "";

    /**
     * {@return the name of the method that is called instead if a limit refuses the call} It is a method of the same
     * class, or of the interface that has the annotation, with the same parameters, optionally followed by a
     * {@link RateLimitExceededException}, and a compatible return type. Its result is the result of the call. Without
     * one, the call throws the exception.
     */
    String fallback() default "";

    /**
     * {@return whether the limit is applied} {@link Mode#OFF} disables it without removing the annotation;
     * {@link Mode#SHADOW} counts refusals without refusing.
     */
    Mode mode() default Mode.ENFORCE;

    /** The user, or the address if there is no user. */
    String DEFAULT_KEY = "user";

    /** A bucket that is refilled continuously. */
    String DEFAULT_ALGORITHM = "token-bucket";

    /** Holds several annotations. */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.TYPE})
    @interface All {

        /** {@return the limits, all of which apply} */
        RateLimited[] value();
    }
}
