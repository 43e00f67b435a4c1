package dev.ratelimit.spring.rules.request;

import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * How many permits a request costs.
 *
 * @param written the text of the cost
 * @param arguments the names of the method's parameters that it depends on
 * @param needsPrincipal whether it is unknown before Spring Security has run
 * @param permits of a request; never negative
 */
public record Cost(
        String written, Set<String> arguments, boolean needsPrincipal, ToLongFunction<RequestContext> permits) {

    /** Whether each request costs one permit, so that permits count requests. */
    public boolean isOne() {
        return written.equals("1");
    }

    /** What one request costs, as far as that is known without it; at least 1, as nothing can be asked for 0. */
    public long typical() {
        return written.startsWith("#") ? 1 : Math.max(1, Long.parseLong(written));
    }

    /** The same cost for all requests. */
    public static Cost of(long permits) {
        return new Cost(Long.toString(permits), Set.of(), false, context -> permits);
    }
}
