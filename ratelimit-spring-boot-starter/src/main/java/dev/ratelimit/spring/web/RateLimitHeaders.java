package dev.ratelimit.spring.web;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.spring.Call;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
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

    private static final List<String> DRAFT = List.of("RateLimit-Policy", "RateLimit");
    private static final List<String> LEGACY =
            List.of("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset");

    private final boolean draft;
    private final boolean legacy;
    private final boolean exposeShared;
    private final List<String> names;

    /**
     * Headers of one kind, both or none.
     *
     * @param exposeShared whether callers are told of budgets that are not their own, too
     */
    public RateLimitHeaders(boolean draft, boolean legacy, boolean exposeShared) {
        this.draft = draft;
        this.legacy = legacy;
        this.exposeShared = exposeShared;
        List<String> all = new ArrayList<>(draft ? DRAFT : List.of());
        all.addAll(legacy ? LEGACY : List.of());
        this.names = List.copyOf(all);
    }

    /** The names of the headers. */
    public List<String> names() {
        return names;
    }

    /** Tells how the limits of all stages stand; whether there was anything to tell. */
    boolean write(HttpServletResponse response, Passage passage) {
        if (!draft && !legacy) {
            return false;
        }
        List<LimitStatus> told = new ArrayList<>(4);
        for (AppliedRules stage : passage.stages()) {
            for (LimitStatus status : stage.statuses()) {
                if (status.limit().capacity() <= MOST && isToTell(stage, status, passage.call())) {
                    told.add(status);
                }
            }
        }
        if (told.isEmpty()) {
            if (passage.stages().size() > 1) {
                // an earlier stage has told of what does not apply any more
                names.forEach(name -> response.setHeader(name, null));
            }
            return false;
        }
        if (draft) {
            writeDraft(response, told);
        }
        if (legacy) {
            writeLegacy(response, told);
        }
        return true;
    }

    private boolean isToTell(AppliedRules stage, LimitStatus status, Call call) {
        return exposeShared || stage.rule(status.policy().name()).key().isOwn(call);
    }

    private static void writeDraft(HttpServletResponse response, List<LimitStatus> told) {
        StringBuilder policies = new StringBuilder();
        StringBuilder limits = new StringBuilder();
        for (LimitStatus status : told) {
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

    private static void writeLegacy(HttpServletResponse response, List<LimitStatus> told) {
        LimitStatus tightest = told.stream()
                .min(Comparator.comparing(LimitStatus::admitted).thenComparingLong(LimitStatus::remaining))
                .orElseThrow();
        response.setHeader("X-RateLimit-Limit", Long.toString(tightest.limit().capacity()));
        response.setHeader("X-RateLimit-Remaining", Long.toString(tightest.remaining()));
        response.setHeader("X-RateLimit-Reset", Long.toString(seconds(tightest.fullAfterNanos())));
    }

    /** The same response, which loses these headers when it becomes a redirect: clients might wait before following it. */
    HttpServletResponse keptFromRedirects(HttpServletResponse response) {
        return new RedirectWithout(names, response);
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
