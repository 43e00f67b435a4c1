package dev.ratelimit.spring.web;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Comparator;
import java.util.List;

/**
 * Tells a caller about its own budgets; what others use of a shared one is not its business.
 *
 * <p>{@code RateLimit} and {@code RateLimit-Policy} follow draft-ietf-httpapi-ratelimit-headers-10: structured fields, one
 * item a limit. The older {@code X-RateLimit} fields know one limit only, so they tell of the one with least left.
 */
public final class RateLimitHeaders {

    private static final long NANOS = 1_000_000_000L;

    /** The largest integer of structured fields (RFC 9651, section 3.3.1). */
    private static final long MOST = 999_999_999_999_999L;

    private final boolean draft;
    private final boolean legacy;

    /** Headers of one kind, both or none. */
    public RateLimitHeaders(boolean draft, boolean legacy) {
        this.draft = draft;
        this.legacy = legacy;
    }

    void write(HttpServletResponse response, AppliedRules applied, Decision decision) {
        if (!draft && !legacy) {
            return;
        }
        List<LimitStatus> own = decision.limits().stream()
                .filter(status -> applied.ruleOf(status).key().own())
                .filter(status -> status.limit().capacity() <= MOST)
                .toList();
        if (own.isEmpty()) {
            return;
        }
        if (draft) {
            writeDraft(response, own);
        }
        if (legacy) {
            writeLegacy(response, own);
        }
    }

    private static void writeDraft(HttpServletResponse response, List<LimitStatus> own) {
        StringBuilder policies = new StringBuilder();
        StringBuilder limits = new StringBuilder();
        for (LimitStatus status : own) {
            String separator = policies.isEmpty() ? "" : ", ";
            String name = name(status);
            policies.append(separator)
                    .append(name)
                    .append(";q=")
                    .append(status.limit().capacity());
            policies.append(";w=").append(seconds(status.limit().replenishNanos()));
            limits.append(separator).append(name).append(";r=").append(status.remaining());
            limits.append(";t=").append(seconds(status.nextAvailableNanos()));
        }
        response.setHeader("RateLimit-Policy", policies.toString());
        response.setHeader("RateLimit", limits.toString());
    }

    private static void writeLegacy(HttpServletResponse response, List<LimitStatus> own) {
        LimitStatus tightest = own.stream()
                .min(Comparator.comparing(LimitStatus::admitted).thenComparingLong(LimitStatus::remaining))
                .orElseThrow();
        response.setHeader("X-RateLimit-Limit", Long.toString(tightest.limit().capacity()));
        response.setHeader("X-RateLimit-Remaining", Long.toString(tightest.remaining()));
        response.setHeader("X-RateLimit-Reset", Long.toString(seconds(tightest.fullAfterNanos())));
    }

    /** The policy's name, and where it has several limits, the seconds that tell them apart. */
    private static String name(LimitStatus status) {
        String name = status.policy().name();
        boolean several = status.policy().limits().size() > 1;
        return '"' + (several ? name + "/" + seconds(status.limit().rate().periodNanos()) : name) + '"';
    }

    static long seconds(long nanos) {
        return nanos / NANOS + (nanos % NANOS == 0 ? 0 : 1);
    }
}
