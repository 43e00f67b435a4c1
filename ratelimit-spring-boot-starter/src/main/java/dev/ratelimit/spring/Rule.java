package dev.ratelimit.spring;

import dev.ratelimit.Policy;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A policy, and which requests pay what to it from whose budget, where and when. Immutable.
 *
 * @param policy the name, and the limits of those who have no others
 * @param match which requests
 * @param key whose budget
 * @param allowances who has other limits, or none
 * @param price how many permits a request costs, 0 or more
 * @param stage before or after Spring Security
 * @param counted the statuses of the responses whose requests are charged; {@code null} for all
 * @param jitter what is added to Retry-After when this policy refuses
 */
public record Rule(
        Policy policy,
        RuleMatch match,
        RuleKey key,
        Allowances allowances,
        Price price,
        Stage stage,
        @Nullable StatusSet counted,
        RetryJitter jitter) {

    /**
     * How many permits a request costs.
     *
     * @param written as it was written
     * @param permits of each request; never negative
     */
    public record Price(String written, ToLongFunction<Call> permits) {

        /** The same for all. */
        public static Price of(long permits) {
            return new Price(Long.toString(permits), call -> permits);
        }
    }

    /** The same policy at an endpoint that names it, at another price. */
    public Rule at(long permits) {
        return new Rule(policy, match.whereAnnotated(), key, allowances, Price.of(permits), stage, counted, jitter);
    }

    /** What the request may have. */
    public Allowance allowance(Call call) {
        return allowances.of(call);
    }

    /** For people, in one line. */
    public String describe() {
        String limits =
                String.join("; ", policy.limits().stream().map(Object::toString).toList());
        String cost = price.written().equals("1") ? "" : ", " + price.written() + " permits each";
        String only = counted == null ? "" : ", counting " + counted;
        return "'" + policy.name() + "': " + limits + " " + key + ", " + match + allowances + cost + only;
    }
}
