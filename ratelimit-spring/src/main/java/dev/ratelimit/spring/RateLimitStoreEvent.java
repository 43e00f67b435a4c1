package dev.ratelimit.spring;

import org.jspecify.annotations.Nullable;

/**
 * The store on Redis no longer decides, or decides again: an application event. While it does not, policies apply their
 * {@code on-store-failure}. Immutable.
 *
 * <p>Listeners run on the thread {@code ratelimit-events}, one after another; what they throw is logged.
 *
 * @param available whether all servers of the store are used; {@code false} while at least one fails
 * @param reason why the last request failed, as in the meter {@code ratelimit.store.failures}, such as {@code timeout};
 *     {@code null} if the store is available
 */
public record RateLimitStoreEvent(
        boolean available, @Nullable String reason) {}
