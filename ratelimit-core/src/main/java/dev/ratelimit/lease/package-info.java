/** Leases: permits that an instance charges in advance, and then spends without asking the store. */
@CheckReturnValue
@NullMarked
package dev.ratelimit.lease;

import dev.ratelimit.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
