package dev.ratelimit.spring.rules.field;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one version of draft-ietf-httpapi-ratelimit-headers writes limits: structured fields, a list each, with one item
 * per limit. Drafts rename parameters. Another version of the draft is another constant here, and a value of
 * {@code ratelimit.headers}.
 *
 * @param policies the name of the field for what does not change
 * @param limits the name of the field for what is left
 * @param quota the parameter for the permits available at once
 * @param window the parameter for the seconds in which that many come back
 * @param unit the parameter for what is counted, unless that is requests
 * @param remaining the parameter for the remaining permits
 * @param reset the parameter for the seconds until there are more
 * @param cost the parameter for the permits of this request; {@code null} if the draft has none
 */
public record RateLimitDraft(
        String policies,
        String limits,
        String quota,
        String window,
        String unit,
        String remaining,
        String reset,
        @Nullable String cost) {

    /** Of 2025-09-23. */
    public static final RateLimitDraft DRAFT_10 =
            new RateLimitDraft("RateLimit-Policy", "RateLimit", "q", "w", "qu", "r", "t", null);

    /** The newest draft that is known here. */
    public static final RateLimitDraft NEWEST = DRAFT_10;

    private static final String CONCURRENT_REQUESTS = StructuredField.string("concurrent-requests");

    /** Turns the names of parameters into what precedes their values. */
    public RateLimitDraft {
        quota = StructuredField.parameter(quota);
        window = StructuredField.parameter(window);
        unit = StructuredField.parameter(unit);
        remaining = StructuredField.parameter(remaining);
        reset = StructuredField.parameter(reset);
        cost = cost == null ? null : StructuredField.parameter(cost);
    }

    /** The names of both fields. */
    public List<String> names() {
        return List.of(policies, limits);
    }

    /** Names a limit in both fields: as its policy or, if that has several, with the seconds of its period. */
    public static String name(Policy policy, Limit limit) {
        boolean several = policy.limits().size() > 1;
        return StructuredField.string(
                several ? policy.name() + "/" + WholeSeconds.of(limit.rate().periodNanos()) : policy.name());
    }

    /** The item of a limit for the first field, which is kept for other requests: it is made of the limit alone. */
    public String policyItem(String name, Limit limit) {
        String item = name + quota + limit.capacity();
        return limit.concurrency()
                ? item + unit + CONCURRENT_REQUESTS
                : item + window + WholeSeconds.of(limit.replenishNanos());
    }

    /** The item of a limit for the second field. Nobody knows when a request will be complete. */
    public String limitItem(String name, LimitStatus status) {
        String timed = status.limit().concurrency()
                ? name + remaining + status.remaining()
                : name + remaining + status.remaining() + reset + WholeSeconds.of(status.nextAvailableNanos());
        return cost == null ? timed : timed + cost + status.charge().permits();
    }
}
