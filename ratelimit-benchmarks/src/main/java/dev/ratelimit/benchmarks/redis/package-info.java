/** The cost of a decision on Redis: this library compared with other ways to check three limits on one server. */
@NullMarked
package dev.ratelimit.benchmarks.redis;

import org.jspecify.annotations.NullMarked;
