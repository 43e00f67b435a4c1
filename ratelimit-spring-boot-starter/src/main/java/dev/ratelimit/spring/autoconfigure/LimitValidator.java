package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Limit;
import java.util.function.Consumer;

/**
 * Throws an {@link IllegalArgumentException} for a limit that the store cannot keep. Every configured limit is
 * validated.
 */
interface LimitValidator extends Consumer<Limit> {}
