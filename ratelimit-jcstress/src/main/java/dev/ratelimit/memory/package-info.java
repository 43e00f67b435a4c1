/** What two threads can observe of the in-memory store. In its package, to reach its package-private parts. */
@NullMarked
package dev.ratelimit.memory;

import org.jspecify.annotations.NullMarked;
