/** The in-memory store: exact under concurrency, bounded, without a thread of its own. */
@NullMarked
package dev.ratelimit.memory;

import org.jspecify.annotations.NullMarked;
