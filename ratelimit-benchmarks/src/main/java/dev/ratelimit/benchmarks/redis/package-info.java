/** What a decision costs on Redis: this library beside other ways to ask one server about three limits. */
@NullMarked
package dev.ratelimit.benchmarks.redis;

import org.jspecify.annotations.NullMarked;
