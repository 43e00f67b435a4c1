package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.spring.WebResponse;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.field.LegacyFields;
import dev.ratelimit.spring.rules.field.RateLimitDraft;
import dev.ratelimit.spring.rules.field.StructuredField;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Writes the caller's budgets to response headers. How others use a shared budget remains hidden by default.
 *
 * <p>The fields of a draft have one item per limit. The older ones have room for one limit only: the one with the fewest
 * remaining permits.
 */
final class RateLimitHeaders {

    private static final int MAX_SEQUENCES = 1_000;
    private static final int MAX_OF_ONE_NAME = 16;

    private static final Comparator<LimitStatus> TIGHTEST_FIRST =
            Comparator.comparing(LimitStatus::admitted).thenComparingLong(LimitStatus::remaining);

    private final Sequence none = new Sequence();
    private final AtomicInteger sequences = new AtomicInteger();
    private final @Nullable RateLimitDraft draft;
    private final @Nullable LegacyFields legacy;
    private final boolean exposeShared;
    private final List<String> names;

    /** Creates headers from the properties. */
    static RateLimitHeaders of(RateLimitProperties properties) {
        RateLimitProperties.Headers kind = properties.headers();
        return new RateLimitHeaders(kind.draft(), kind.legacy(), properties.exposeShared());
    }

    /**
     * Creates headers of one kind, both or neither.
     *
     * @param draft how the fields of a draft are written; {@code null} for none
     * @param legacy the older fields; {@code null} for none
     * @param exposeShared whether the headers include budgets that do not belong to the caller alone
     */
    RateLimitHeaders(@Nullable RateLimitDraft draft, @Nullable LegacyFields legacy, boolean exposeShared) {
        this.draft = draft;
        this.legacy = legacy;
        this.exposeShared = exposeShared;
        List<String> all = new ArrayList<>(draft == null ? List.of() : draft.names());
        all.addAll(legacy == null ? List.of() : legacy.names());
        this.names = List.copyOf(all);
    }

    /** The names of the headers. */
    List<String> names() {
        return names;
    }

    /** Writes the limits of all stages; returns the names of the headers, none if there are no limits to show. */
    List<String> write(List<StageCharges> stages, RequestContext context, WebResponse response) {
        if (names.isEmpty()) {
            return List.of();
        }
        Fields fields = fields();
        for (int i = 0; i < stages.size(); i++) {
            StageCharges stage = stages.get(i);
            List<LimitStatus> statuses = stage.statuses();
            for (int j = 0; j < statuses.size(); j++) {
                LimitStatus status = statuses.get(j);
                if ((exposeShared || stage.isOfCaller(status, context))
                        && status.limit().capacity() <= StructuredField.MAX_INTEGER) {
                    fields.add(status);
                }
            }
        }
        if (!fields.areEmpty()) {
            fields.write(response);
            return names;
        }
        if (stages.size() > 1) {
            // an earlier stage has written headers that no longer apply
            names.forEach(name -> response.setHeader(name, null));
        }
        return List.of();
    }

    /** Creates the fields of one response. */
    Fields fields() {
        return new Fields();
    }

    /** The fields of one response. Not thread-safe. */
    final class Fields {

        private Sequence sequence = none;
        private String limits = "";
        private @Nullable LimitStatus tightest;

        private Fields() {}

        void add(LimitStatus status) {
            if (draft != null) {
                sequence = after(sequence, status, draft);
                limits = StructuredField.append(limits, draft.limitItem(sequence.name, status));
            }
            if (legacy != null && !status.limit().concurrency()) {
                tightest = tightest == null || TIGHTEST_FIRST.compare(status, tightest) < 0 ? status : tightest;
            }
        }

        boolean areEmpty() {
            return limits.isEmpty() && tightest == null;
        }

        void write(WebResponse response) {
            if (draft != null) {
                response.setHeader(draft.policies(), sequence.policies);
                response.setHeader(draft.limits(), limits);
            }
            if (legacy != null && tightest != null) {
                legacy.write(tightest, response);
            }
        }
    }

    private Sequence after(Sequence before, LimitStatus status, RateLimitDraft draft) {
        Policy policy = status.policy();
        List<Sequence> known = before.next.getOrDefault(policy.name(), List.of());
        for (int i = 0; i < known.size(); i++) {
            if (known.get(i).endsWith(policy, status.limit())) {
                return known.get(i);
            }
        }
        Sequence next = new Sequence(before, policy, status.limit(), draft);
        if (before.kept && known.size() < MAX_OF_ONE_NAME && sequences.get() < MAX_SEQUENCES) {
            next.kept = true;
            sequences.incrementAndGet();
            List<Sequence> more = new ArrayList<>(known);
            more.add(next);
            before.next.put(policy.name(), more);
        }
        return next;
    }

    /** A sequence of limits, with the constant part of their headers. */
    private static final class Sequence {

        /** By the name of the next policy. */
        private final Map<String, List<Sequence>> next = new ConcurrentHashMap<>();

        private final @Nullable Policy policy;
        private final @Nullable Limit limit;

        /** Of the last limit. */
        private final String name;

        private final String policies;

        /** Whether it is found again; what follows a sequence that is not kept is not kept either. */
        private boolean kept;

        Sequence() {
            this.kept = true;
            this.policy = null;
            this.limit = null;
            this.name = "";
            this.policies = "";
        }

        Sequence(Sequence before, Policy policy, Limit limit, RateLimitDraft draft) {
            this.policy = policy;
            this.limit = limit;
            this.name = RateLimitDraft.name(policy, limit);
            this.policies = StructuredField.append(before.policies, draft.policyItem(name, limit));
        }

        @SuppressWarnings("ReferenceEquality") // an equal policy is written again
        boolean endsWith(Policy lastPolicy, Limit lastLimit) {
            return policy == lastPolicy && limit == lastLimit;
        }
    }
}
