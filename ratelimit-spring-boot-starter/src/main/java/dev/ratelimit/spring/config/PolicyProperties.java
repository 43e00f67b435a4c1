package dev.ratelimit.spring.config;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.algorithm.FixedWindow.Align;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.MissingKey;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.Stage;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * One policy, under {@code ratelimit.policies.<name>}.
 *
 * @param limit how many permits in which period, such as 100/minute; several by semicolons or as a list. Required, unless
 *     there are plans
 * @param algorithm token-bucket, fixed-window, sliding-window or sliding-log
 * @param burst the most permits a token bucket holds; as many as the limit permits in a period, if not set
 * @param refill whether a token bucket is refilled continuously or a whole period at a time
 * @param align whether fixed windows start at the first hit or follow the clock
 * @param zone whose days and months windows follow that are aligned to the clock; UTC, if not set
 * @param rounding whether a sliding window compares its estimate as it is, or rounded down
 * @param key whose budget: user, principal, ip, endpoint, method, session, header:X, query:x, cookie:x, path:x, claim:x,
 *     bean:name or an expression that starts with #; one budget for all, if not set
 * @param missingKey what becomes of a request that has no value for a part of the key
 * @param match which requests
 * @param permits what one request costs, a number or an expression; 0 is free
 * @param mode whether the policy is applied
 * @param count the statuses of the responses that are charged, such as 401, 403 or 5xx; all, if not set
 * @param plans limits by the plan of the key's owner
 * @param planResolver the name of the bean of type PlanResolver that says which plan; the only one, if not set
 * @param overrides limits, unlimited or blocked, by the value of the key, or by address or network for the key ip
 * @param retryJitter what is added to Retry-After
 * @param stage whether the policy is applied before or after Spring Security
 * @param onStoreFailure what holds while the store, on another machine, does not answer
 * @param maxKeys the most keys that each limit of the policy keeps in memory
 */
public record PolicyProperties(
        @Nullable List<String> limit,
        @DefaultValue("token-bucket") String algorithm,
        @Nullable Long burst,
        @Nullable Refill refill,
        @Nullable Align align,
        @Nullable ZoneId zone,
        @Nullable Rounding rounding,
        @DefaultValue List<String> key,
        @DefaultValue("ip") MissingKey missingKey,
        @DefaultValue Match match,
        @DefaultValue("1") String permits,
        @DefaultValue("enforce") Mode mode,
        @DefaultValue List<String> count,
        @DefaultValue Map<String, Plan> plans,
        @Nullable String planResolver,
        @DefaultValue Map<String, String> overrides,
        @DefaultValue Jitter retryJitter,
        @DefaultValue("auto") Stage stage,
        @DefaultValue("local") OnStoreFailure onStoreFailure,
        @DefaultValue("" + InMemoryStore.DEFAULT_MAX_KEYS) int maxKeys) {

    /**
     * Which requests a policy is for; all, if nothing is set.
     *
     * @param paths patterns of paths, such as /api/**
     * @param exceptPaths patterns of paths that are left out
     * @param methods HTTP methods; HEAD is a GET
     * @param when an expression that has to be true, such as #request.getHeader('X-Beta') != null
     * @param annotated whether only endpoints are meant whose RateLimited annotation names the policy
     */
    public record Match(
            @DefaultValue List<String> paths,
            @DefaultValue List<String> exceptPaths,
            @DefaultValue List<String> methods,
            @Nullable String when,
            @DefaultValue("false") boolean annotated) {}

    /**
     * The limit of those on a plan; either of the two lines {@code plans.pro: 100/minute} and
     * {@code plans.pro.limit: 100/minute}.
     *
     * @param limit as that of the policy, or unlimited, or blocked
     * @param burst as that of the policy
     */
    public record Plan(@Nullable String limit, @Nullable Long burst) {

        /** A plan of which only the limit is written. */
        public static Plan of(String limit) {
            return new Plan(limit, null);
        }
    }

    /**
     * A random time added to Retry-After, uniform in [min, max).
     *
     * @param min the least
     * @param max the most
     */
    public record Jitter(
            @DefaultValue("0s") Duration min,
            @DefaultValue("1s") Duration max) {}
}
