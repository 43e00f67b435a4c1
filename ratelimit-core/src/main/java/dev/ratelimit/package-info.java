/** The vocabulary of rate limiting: limits, policies, charges, decisions, and the store that takes them. */
@CheckReturnValue
@NullMarked
package dev.ratelimit;

import org.jspecify.annotations.NullMarked;
