package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.RateLimitStore;
import java.util.function.UnaryOperator;

/** Decorates the store that the filter uses. */
interface StoreDecorator extends UnaryOperator<RateLimitStore> {}
