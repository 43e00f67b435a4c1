package dev.ratelimit.spring.rules.request;

import dev.ratelimit.spring.rules.request.Reads.Fact;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * How many permits a request costs.
 *
 * @param written the text of the cost
 * @param reads what it depends on
 * @param permits of a request; never negative
 */
public record Cost(String written, Reads reads, ToLongFunction<RequestContext> permits) {

    /** The names of the method's parameters that it depends on. */
    public Set<String> arguments() {
        return reads.names(Fact.ARGUMENT);
    }

    /** Whether it is unknown before Spring Security has run. */
    public boolean needsPrincipal() {
        return reads.includeCaller();
    }

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
        return new Cost(Long.toString(permits), Reads.NOTHING, context -> permits);
    }
}
