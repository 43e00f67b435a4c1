package dev.ratelimit.spring.config;

import dev.ratelimit.algorithm.FixedWindow.Align;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.Mode;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * One policy, under {@code ratelimit.policies.<name>}.
 *
 * @param limit how many permits in which period, such as 100/minute; several by semicolons or as a list. Required.
 * @param algorithm token-bucket, fixed-window, sliding-window or sliding-log
 * @param burst the most permits a token bucket holds; as many as the limit permits in a period, if not set
 * @param refill whether a token bucket is refilled continuously or a whole period at a time
 * @param align whether fixed windows start at the first hit or follow the clock
 * @param zone whose days and months windows follow that are aligned to the clock; UTC, if not set
 * @param rounding whether a sliding window compares its estimate as it is, or rounded down
 * @param key whose budget: user, principal, ip, endpoint, method, header:X; one budget for all, if not set
 * @param match which requests
 * @param permits what one request costs; 0 is free
 * @param mode whether the policy is applied
 * @param retryJitter what is added to Retry-After
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
        @DefaultValue Match match,
        @DefaultValue("1") long permits,
        @DefaultValue("enforce") Mode mode,
        @DefaultValue Jitter retryJitter,
        @DefaultValue("" + InMemoryStore.DEFAULT_MAX_KEYS) int maxKeys) {

    /**
     * Which requests a policy is for; all, if nothing is set.
     *
     * @param paths patterns of paths, such as /api/**
     * @param exceptPaths patterns of paths that are left out
     * @param methods HTTP methods; HEAD is a GET
     * @param annotated whether only endpoints are meant whose RateLimited annotation names the policy
     */
    public record Match(
            @DefaultValue List<String> paths,
            @DefaultValue List<String> exceptPaths,
            @DefaultValue List<String> methods,
            @DefaultValue("false") boolean annotated) {}

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
