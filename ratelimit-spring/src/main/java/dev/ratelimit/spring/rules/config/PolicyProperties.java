package dev.ratelimit.spring.rules.config;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.algorithm.FixedWindow.Align;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.rule.OnExceeded.Action;
import dev.ratelimit.spring.rules.rule.Stage;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/**
 * One policy, under {@code ratelimit.policies.<name>}.
 *
 * @param limit How many permits in which period, such as 100/minute; several limits separated by semicolons or as a
 *     list. Required unless there are plans or concurrency.
 * @param algorithm One of token-bucket, fixed-window, sliding-window, sliding-log or concurrency.
 * @param concurrency How many permits requests may hold at once, alone or beside the limit; each request holds one until
 *     its response is complete.
 * @param maxHold How long a request may hold a permit of the concurrency limit, which is then free again; by
 *     default, 10m.
 * @param burst The maximum number of permits in a token bucket; by default, the permits of one period.
 * @param refill Whether a token bucket is refilled continuously or once per period; by default, continuously.
 * @param align Whether fixed windows start with the first request or are aligned with the clock; by default, the
 *     former.
 * @param zone The time zone of windows that are aligned with the clock; by default, UTC.
 * @param rounding Whether a sliding window compares its exact estimate, or the estimate rounded down; by default, the
 *     former.
 * @param penalty How long a key that the policy has refused stays refused, such as 10m; from the first refusal on, at
 *     most 365 days. By default, only as long as the limit refuses it.
 * @param key Whose budget: user, principal, ip, endpoint, route, method, session, header:X, query:x, cookie:x, path:x,
 *     claim:x, bean:name or an expression that starts with #; by default, all callers share one budget.
 * @param missingKey What happens to a request without a value for a part of the key.
 * @param match Which requests the policy applies to.
 * @param permits How many permits a request costs, a number or an expression; 0 is free.
 * @param mode Whether the policy is applied.
 * @param onExceeded What happens to a request that a limit refuses.
 * @param response The response to requests that this policy refuses, where it differs from ratelimit.response; of several
 *     policies that refuse, that with the longest wait.
 * @param count The statuses of responses that are charged, such as 401, 403 or 5xx; by default, all.
 * @param free The statuses of responses that are not charged, such as 2xx, while all others are; not allowed with count.
 * @param plans Limits by the plan of the key's owner.
 * @param planResolver The name of the bean of type PlanResolver; by default, the only such bean.
 * @param overrides Limits, unlimited or blocked, by the value of the key; for the key ip, by address or network.
 * @param retryJitter A random time added to Retry-After.
 * @param stage Whether the policy is applied before or after Spring Security.
 * @param onStoreFailure What happens while a store on another machine does not answer.
 * @param maxKeys The maximum number of keys that each limit of the policy keeps in memory.
 */
public record PolicyProperties(
        @Nullable List<String> limit,
        @DefaultValue("token-bucket") String algorithm,
        @Nullable Long concurrency,
        @Nullable Duration maxHold,
        @Nullable Long burst,
        @Nullable Refill refill,
        @Nullable Align align,
        @Nullable ZoneId zone,
        @Nullable Rounding rounding,
        @Nullable Duration penalty,
        @DefaultValue List<String> key,
        @DefaultValue("ip") MissingKey missingKey,
        @DefaultValue Match match,
        @DefaultValue("1") String permits,
        @DefaultValue("enforce") Mode mode,
        @DefaultValue OnExceeded onExceeded,
        @DefaultValue RateLimitProperties.Response response,
        @DefaultValue List<String> count,
        @DefaultValue List<String> free,
        @DefaultValue Map<String, Plan> plans,
        @Nullable String planResolver,
        @DefaultValue Map<String, String> overrides,
        @DefaultValue Jitter retryJitter,
        @DefaultValue("auto") Stage stage,
        @DefaultValue("local") OnStoreFailure onStoreFailure,
        @DefaultValue("" + InMemoryStore.DEFAULT_MAX_KEYS) int maxKeys) {

    /** Creates a policy from its limit alone: {@code login: 5/minute}. */
    public static PolicyProperties of(String limit) {
        return new Binder(new MapConfigurationPropertySource(Map.of("policy.limit", limit)))
                .bind("policy", PolicyProperties.class)
                .get();
    }

    /** The same policy with the penalty, the longest wait and the plans of a change; its limit and mode are read elsewhere. */
    PolicyProperties with(RateLimitChange change) {
        Duration changed = change.penalty();
        Map<String, Plan> both = new LinkedHashMap<>(plans);
        both.replaceAll((name, plan) -> plan.with(change.plans().get(name)));
        return new PolicyProperties(
                limit,
                algorithm,
                concurrency,
                maxHold,
                burst,
                refill,
                align,
                zone,
                rounding,
                changed == null ? penalty : changed.isZero() ? null : changed,
                key,
                missingKey,
                match,
                permits,
                mode,
                onExceeded.with(change.maxWait()),
                response,
                count,
                free,
                both,
                planResolver,
                overrides,
                retryJitter,
                stage,
                onStoreFailure,
                maxKeys);
    }

    /**
     * Which requests a policy applies to; by default, all.
     *
     * @param paths Patterns of paths, such as /api/**.
     * @param exceptPaths Patterns of excluded paths.
     * @param methods HTTP methods; HEAD counts as GET.
     * @param when A condition on the request, such as #request.getHeader('X-Beta') != null.
     * @param annotated Whether the policy applies only where it is named: by a RateLimited annotation, or by a route of a gateway.
     */
    public record Match(
            @DefaultValue List<String> paths,
            @DefaultValue List<String> exceptPaths,
            @DefaultValue List<String> methods,
            @Nullable String when,
            @DefaultValue("false") boolean annotated) {}

    /**
     * The limit of a plan; either {@code plans.pro: 100/minute} or {@code plans.pro.limit: 100/minute}.
     *
     * @param limit As for the policy, or unlimited or blocked.
     * @param burst As for the policy.
     * @param zone As for the policy; by default, that of the policy.
     */
    public record Plan(
            @Nullable String limit,
            @Nullable Long burst,
            @Nullable ZoneId zone) {

        /** Creates a plan from its limit alone. */
        public static Plan of(String limit) {
            return new Plan(limit, null, null);
        }

        private Plan with(RateLimitChange.@Nullable OfPlan change) {
            if (change == null) {
                return this;
            }
            Long changed = change.burst();
            return new Plan(
                    change.limit() == null ? limit : change.limit(),
                    changed == null ? burst : changed == 0 ? null : changed,
                    zone);
        }
    }

    /**
     * What happens to a request that a limit refuses.
     *
     * @param action What happens: reject it at once, let it wait for its permits without a thread, or delay its refusal.
     * @param maxWait With wait: how long a request may wait, at most 1h; one that would wait longer is refused at once.
     *     By default, 1s.
     * @param queue With wait: how many requests may wait at once, over all keys; by default, 100.
     * @param order With wait: who is served first among the requests of a key; by default, oldest-first.
     * @param delay With delay: how long a refusal is held back, at most 1h; by default, 1s.
     * @param delayed With delay: how many refusals are held back at once, over all keys; by default, 100. All others are
     *     sent at once.
     */
    public record OnExceeded(
            @DefaultValue("reject") Action action,
            @Nullable Duration maxWait,
            @Nullable Integer queue,
            @Nullable Order order,
            @Nullable Duration delay,
            @Nullable Integer delayed) {

        /** If nothing is written. */
        static final OnExceeded DEFAULT = new OnExceeded(Action.REJECT, null, null, null, null, null);

        /** Whether all but the longest wait is the same, which is fixed while the application runs. */
        boolean isLike(OnExceeded other) {
            return with(Duration.ZERO).equals(other.with(Duration.ZERO));
        }

        private OnExceeded with(@Nullable Duration otherWait) {
            return otherWait == null ? this : new OnExceeded(action, otherWait, queue, order, delay, delayed);
        }
    }

    /**
     * A random time added to Retry-After, uniform in [min, max).
     *
     * @param min The minimum of that time.
     * @param max The maximum of that time.
     */
    public record Jitter(
            @DefaultValue("0s") Duration min,
            @DefaultValue("1s") Duration max) {}
}
