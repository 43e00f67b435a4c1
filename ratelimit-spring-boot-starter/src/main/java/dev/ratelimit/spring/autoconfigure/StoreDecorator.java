package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.RateLimitStore;
import java.util.function.UnaryOperator;

/** Puts something around the store that the filter asks. */
interface StoreDecorator extends UnaryOperator<RateLimitStore> {}
