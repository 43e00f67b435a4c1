package dev.ratelimit.spring.config;

import dev.ratelimit.spring.ForwardedHeader;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RejectionBody;
import dev.ratelimit.spring.Tokens;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code ratelimit}. A property that is not listed here stops the start.
 *
 * @param enabled whether anything is limited at all
 * @param policies the policies by name; every request is charged against all that apply to it, or none
 * @param trustedProxies the addresses and networks of proxies whose Forwarded and X-Forwarded-For headers are believed
 * @param forwardedHeader which of the two headers the proxies write
 * @param ipv4Prefix how many bits of an IPv4 address tell clients apart
 * @param ipv6Prefix how many bits of an IPv6 address tell clients apart
 * @param ignoreCase whether names of users and other values of keys are equal that differ in case
 * @param exempt which requests are never charged
 * @param headers which response headers tell a caller about its own budget
 * @param exposeShared whether the headers tell callers of budgets that are not their own, too
 * @param retryAfterMillisHeader a response header for the wait in milliseconds, such as X-RetryAfterMs, beside Retry-After
 * @param response what a refused request gets
 * @param store where budgets are kept
 */
@ConfigurationProperties(prefix = "ratelimit", ignoreUnknownFields = false)
public record RateLimitProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue Map<String, PolicyProperties> policies,
        @DefaultValue List<String> trustedProxies,
        @DefaultValue("any") ForwardedHeader forwardedHeader,
        @DefaultValue("32") int ipv4Prefix,
        @DefaultValue("64") int ipv6Prefix,
        @DefaultValue("false") boolean ignoreCase,
        @DefaultValue Exempt exempt,
        @DefaultValue("draft") Headers headers,
        @DefaultValue("false") boolean exposeShared,
        @Nullable String retryAfterMillisHeader,
        @DefaultValue Response response,
        @DefaultValue Store store) {

    /** Checks the prefixes and the header's name. */
    public RateLimitProperties {
        checkPrefix("ratelimit.ipv4-prefix", ipv4Prefix, 8, 32);
        checkPrefix("ratelimit.ipv6-prefix", ipv6Prefix, 32, 128);
        if (retryAfterMillisHeader != null && !Tokens.isToken(retryAfterMillisHeader)) {
            throw new RateLimitConfigurationException(
                    "ratelimit.retry-after-millis-header",
                    retryAfterMillisHeader,
                    "the name of a header has letters, digits and hyphens; write X-RetryAfterMs");
        }
    }

    private static void checkPrefix(String property, int bits, int least, int most) {
        if (bits < least || bits > most) {
            throw new RateLimitConfigurationException(
                    property,
                    Integer.toString(bits),
                    "must be from " + least + " to " + most + " bits but was " + bits);
        }
    }

    /**
     * Which requests are never charged.
     *
     * @param addresses those of these addresses and networks
     * @param paths those to these paths, by patterns that match only as written
     * @param keys those whose key has one of these values, under the policies that have such a key
     * @param when those for which this expression is true
     */
    public record Exempt(
            @DefaultValue List<String> addresses,
            @DefaultValue List<String> paths,
            @DefaultValue List<String> keys,
            @Nullable String when) {}

    /** Which response headers are sent. */
    public enum Headers {
        /** RateLimit and RateLimit-Policy, of the IETF draft. */
        DRAFT,
        /** X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, in seconds. */
        LEGACY,
        /** Both kinds. */
        BOTH,
        /** None. */
        NONE
    }

    /**
     * What a refused request gets.
     *
     * @param status the status, from 400 to 599
     * @param body the kind of body
     * @param detail what the body says, instead of which limit is exceeded and when to retry
     */
    public record Response(
            @DefaultValue("429") int status,
            @DefaultValue("problem") RejectionBody body,
            @Nullable String detail) {

        /** Checks the status. */
        public Response {
            if (status < 400 || status > 599) {
                throw new RateLimitConfigurationException(
                        "ratelimit.response.status",
                        Integer.toString(status),
                        "status must be from 400 to 599 but was " + status);
            }
        }
    }

    /**
     * Where budgets are kept.
     *
     * @param type memory, for each instance by itself, or redis, for all instances together
     * @param redis the store on Redis or Valkey, which is reached by spring.data.redis
     */
    public record Store(
            @DefaultValue("memory") Type type, @DefaultValue Redis redis) {

        /** Where. */
        public enum Type {
            /** In each instance, for itself. */
            MEMORY,
            /** In Redis or Valkey, for all instances together. */
            REDIS
        }
    }

    /**
     * The store on Redis or Valkey.
     *
     * @param deadline how long a decision may take in all, connecting included
     * @param maxInFlight how many commands may wait for an answer at once; what comes on top fails at once
     * @param failures how many of the last 20 requests to a server must fail until it is left alone
     * @param openFor for how long a server that fails is left alone before one request tries it again
     * @param localShare the share of each limit that this instance has while it decides alone; 1/instances keeps the limit
     * @param denyCache the longest time for which a refused key is refused without asking again; 0 asks each time
     * @param prefix what keys in Redis begin with; applications with the same prefix share budgets
     * @param mode exact, to ask for each request, or leased, to spend permits here that were charged before
     * @param lease what leases are like
     */
    public record Redis(
            @DefaultValue("50ms") Duration deadline,
            @DefaultValue("256") int maxInFlight,
            @DefaultValue("10") int failures,
            @DefaultValue("1s") Duration openFor,
            @DefaultValue("1.0") double localShare,
            @DefaultValue("1s") Duration denyCache,
            @DefaultValue("ratelimit") String prefix,
            @DefaultValue("exact") Mode mode,
            @DefaultValue Lease lease) {

        /** Who decides a request. */
        public enum Mode {
            /** Redis, each. */
            EXACT,
            /** This instance, while it has permits that Redis was paid for; only for keys that are asked for often. */
            LEASED
        }

        /**
         * Leases, in mode leased.
         *
         * @param fraction of what is left to all instances that one lease takes at most; below 1/(4 * instances)
         * @param maxAge how long a lease holds; what is not spent by then goes back
         */
        public record Lease(
                @DefaultValue("0.05") double fraction,
                @DefaultValue("1s") Duration maxAge) {

            /** Checks the ranges. */
            public Lease {
                check(
                        "lease.fraction",
                        fraction,
                        fraction > 0 && fraction <= 1,
                        "must be above 0 and at most 1; write 0.05");
                check("lease.max-age", maxAge, isTime(maxAge), "must be above 0 and at most 1h; write 1s");
            }
        }

        private static final Duration LONGEST = Duration.ofHours(1);

        /** Checks the ranges. */
        public Redis {
            check("deadline", deadline, isTime(deadline), "must be above 0 and at most 1h; write 50ms");
            check("max-in-flight", maxInFlight, maxInFlight >= 1, "must be at least 1");
            check(
                    "failures",
                    failures,
                    failures >= 1 && failures <= 20,
                    "must be from 1 to 20, of the last 20 requests");
            check("open-for", openFor, isTime(openFor), "must be above 0 and at most 1h; write 1s");
            check(
                    "local-share",
                    localShare,
                    localShare > 0 && localShare <= 1,
                    "must be above 0 and at most 1; write 1/instances, such as 0.25 for four");
            check(
                    "deny-cache",
                    denyCache,
                    denyCache.isZero() || isTime(denyCache),
                    "must be from 0 to 1h; write 1s, or 0 to ask each time");
            check(
                    "prefix",
                    prefix,
                    prefix.matches("[A-Za-z0-9._:-]{1,32}"),
                    "must be 1 to 32 letters, digits, dots, hyphens, underscores and colons");
        }

        private static boolean isTime(Duration time) {
            return !time.isNegative() && !time.isZero() && time.compareTo(LONGEST) <= 0;
        }

        private static void check(String name, Object written, boolean right, String rule) {
            if (!right) {
                throw new RateLimitConfigurationException(
                        "ratelimit.store.redis." + name, written.toString(), name + " " + rule);
            }
        }
    }
}
