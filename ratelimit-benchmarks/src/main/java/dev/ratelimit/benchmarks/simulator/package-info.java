/** What the replay of a log costs. */
@NullMarked
package dev.ratelimit.benchmarks.simulator;

import org.jspecify.annotations.NullMarked;
