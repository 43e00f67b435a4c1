package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.RateLimitProperties.Lease;
import java.time.Duration;

/**
 * Checks the settings of a store on other servers.
 *
 * @param type the store's, which is a part of the names of its properties
 */
record StoreSettings(String type) {

    private static final Duration MAX_TIME = Duration.ofHours(1);

    /** Checks what all of these stores have. */
    void check(RateLimitProperties.Remote store) {
        check(
                "deadline",
                store.deadline(),
                isTime(store.deadline()),
                "must be above 0 and at most 1h; write " + (type.equals("redis") ? "50ms" : "250ms"));
        check("max-in-flight", store.maxInFlight(), store.maxInFlight() >= 1, "must be at least 1; write 256");
        check(
                "failures",
                store.failures(),
                store.failures() >= 1 && store.failures() <= 20,
                "must be from 1 to 20, of the last 20 requests; write 10");
        check("open-for", store.openFor(), isTime(store.openFor()), "must be above 0 and at most 1h; write 1s");
        check(
                "local-share",
                store.localShare(),
                store.localShare() > 0 && store.localShare() <= 1,
                "must be above 0 and at most 1; write 1/instances, such as 0.25 for four");
        check(
                "deny-cache",
                store.denyCache(),
                store.denyCache().isZero() || isTime(store.denyCache()),
                "must be from 0 to 1h; write 1s, or 0 to ask each time");
        Lease lease = store.lease();
        check(
                "lease.fraction",
                lease.fraction(),
                lease.fraction() > 0 && lease.fraction() <= 1,
                "must be above 0 and at most 1; write 0.05");
        check("lease.max-age", lease.maxAge(), isTime(lease.maxAge()), "must be above 0 and at most 1h; write 1s");
    }

    /**
     * Checks one setting.
     *
     * @param name of the property, without that of the store
     * @param right whether its value is valid
     * @param rule what values are, and one of them
     * @throws RateLimitConfigurationException if it is not valid
     */
    void check(String name, Object written, boolean right, String rule) {
        if (!right) {
            throw new RateLimitConfigurationException(
                    "ratelimit.store." + type + "." + name, written.toString(), name + " " + rule);
        }
    }

    static boolean isTime(Duration time) {
        return !time.isNegative() && !time.isZero() && time.compareTo(MAX_TIME) <= 0;
    }
}
