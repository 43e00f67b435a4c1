package dev.ratelimit.spring.boot.spi;

import dev.ratelimit.RateLimitStore;
import java.util.function.UnaryOperator;

/** Decorates the store that the filter uses. */
public interface StoreDecorator extends UnaryOperator<RateLimitStore> {}
