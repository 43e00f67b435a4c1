package dev.ratelimit.spring.web;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.spring.Call;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

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

    private static final int MOST_ITEMS = 16;
    private static final int MOST_POLICIES = 1_000;

    /** By the name of the policy. */
    private final Map<String, List<Item>> items = new ConcurrentHashMap<>();

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

    private void writeDraft(HttpServletResponse response, List<LimitStatus> told) {
        Item first = item(told.get(0));
        String policies = first.text;
        String limits = first.limit(told.get(0));
        for (int i = 1; i < told.size(); i++) {
            Item next = item(told.get(i));
            policies += ", " + next.text;
            limits += ", " + next.limit(told.get(i));
        }
        response.setHeader("RateLimit-Policy", policies);
        response.setHeader("RateLimit", limits);
    }

    private Item item(LimitStatus status) {
        List<Item> known = items.getOrDefault(status.policy().name(), List.of());
        for (int i = 0; i < known.size(); i++) {
            if (known.get(i).isOf(status)) {
                return known.get(i);
            }
        }
        Item item = Item.of(status);
        if (known.size() < MOST_ITEMS && items.size() < MOST_POLICIES) {
            List<Item> more = new ArrayList<>(known);
            more.add(item);
            items.put(status.policy().name(), more);
        }
        return item;
    }

    /** What does not change of what is told of a limit. */
    private record Item(Policy policy, Limit limit, String name, String text) {

        static Item of(LimitStatus status) {
            Limit limit = status.limit();
            String name = RateLimitHeaders.name(status);
            String text = name + ";q=" + limit.capacity() + ";w=" + seconds(limit.replenishNanos());
            return new Item(status.policy(), limit, name, text);
        }

        @SuppressWarnings("ReferenceEquality") // an equal one is written anew
        boolean isOf(LimitStatus status) {
            return policy == status.policy() && limit == status.limit();
        }

        String limit(LimitStatus status) {
            return name + ";r=" + status.remaining() + ";t=" + seconds(status.nextAvailableNanos());
        }
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
