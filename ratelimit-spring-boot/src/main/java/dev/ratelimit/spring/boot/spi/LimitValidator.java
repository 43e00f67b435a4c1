package dev.ratelimit.spring.boot.spi;

import dev.ratelimit.Limit;
import java.util.function.Consumer;

/**
 * Throws an {@link IllegalArgumentException} for a limit that the store cannot keep. Every configured limit is
 * validated.
 */
public interface LimitValidator extends Consumer<Limit> {}
