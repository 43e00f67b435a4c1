package dev.ratelimit.spring.rules;

import java.util.function.ToLongFunction;

/**
 * How many permits a request costs.
 *
 * @param written the text of the cost
 * @param permits of a request; never negative
 */
record Cost(String written, ToLongFunction<RequestContext> permits) {

    /** The same cost for all requests. */
    static Cost of(long permits) {
        return new Cost(Long.toString(permits), context -> permits);
    }
}
