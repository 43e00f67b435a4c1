/** What is about being remote: for stores whose servers may answer late or not at all. */
@CheckReturnValue
@NullMarked
package dev.ratelimit.remote;

import dev.ratelimit.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
