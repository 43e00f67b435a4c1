package dev.ratelimit.spring;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.server.PathContainer;

/**
 * A policy, and which requests pay what to it from whose budget. Immutable.
 *
 * @param policy the name and the limits
 * @param match which requests
 * @param key whose budget
 * @param permits what one request costs, 0 or more
 * @param jitter what is added to Retry-After when this policy refuses
 */
public record Rule(Policy policy, RuleMatch match, RuleKey key, long permits, RetryJitter jitter) {

    /** The same policy at an endpoint that names it, at another price. */
    public Rule at(long price) {
        return new Rule(policy, RuleMatch.ANNOTATED, key, price, jitter);
    }

    /** Whether requests of this method and path pay, wherever they lead. */
    public boolean matches(HttpServletRequest request, PathContainer path) {
        return match.matches(request, path);
    }

    /** What the request pays, that leads to this endpoint. */
    public Charge charge(HttpServletRequest request, String endpoint) {
        return policy.charge(key.of(request, endpoint), permits);
    }

    /** For people, in one line. */
    public String describe() {
        String limits =
                String.join("; ", policy.limits().stream().map(Object::toString).toList());
        String price = permits == 1 ? "" : ", " + permits + " permits each";
        return "'" + policy.name() + "': " + limits + " " + key + ", " + match + price;
    }
}
