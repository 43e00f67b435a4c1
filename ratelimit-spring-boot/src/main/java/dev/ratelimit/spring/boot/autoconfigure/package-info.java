/**
 * Wires what all web stacks share. The auto-configuration of each starter imports {@link
 * dev.ratelimit.spring.boot.autoconfigure.RateLimitsConfiguration}; nothing else imports this package. Where a starter does
 * not fit, {@link dev.ratelimit.spring.boot.autoconfigure.RateLimitWithoutStackAutoConfiguration} says so.
 */
@NullMarked
package dev.ratelimit.spring.boot.autoconfigure;

import org.jspecify.annotations.NullMarked;
