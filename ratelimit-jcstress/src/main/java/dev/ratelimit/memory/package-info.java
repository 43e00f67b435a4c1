/** What two threads can see of the in-memory store. In its package, for the parts of it that nobody else sees. */
@NullMarked
package dev.ratelimit.memory;

import org.jspecify.annotations.NullMarked;
