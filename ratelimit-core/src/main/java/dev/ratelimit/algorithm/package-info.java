/** The algorithms: each is a {@link dev.ratelimit.Limit}, with the name that configuration uses. */
@CheckReturnValue
@NullMarked
package dev.ratelimit.algorithm;

import dev.ratelimit.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
