/**
 * Wires what all web stacks share. The auto-configuration of each starter imports {@link
 * dev.ratelimit.spring.boot.autoconfigure.RateLimitsConfiguration}; nothing else imports this package.
 */
@NullMarked
package dev.ratelimit.spring.boot.autoconfigure;

import org.jspecify.annotations.NullMarked;
