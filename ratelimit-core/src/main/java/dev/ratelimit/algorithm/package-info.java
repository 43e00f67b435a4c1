/** The algorithms: each is a {@link dev.ratelimit.Limit}, by the names that configuration uses. */
@NullMarked
package dev.ratelimit.algorithm;

import org.jspecify.annotations.NullMarked;
