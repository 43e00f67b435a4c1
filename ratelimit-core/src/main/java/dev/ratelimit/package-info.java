/** The vocabulary of rate limiting: limits, policies, charges, decisions, and the store that takes them. */
@NullMarked
package dev.ratelimit;

import org.jspecify.annotations.NullMarked;
