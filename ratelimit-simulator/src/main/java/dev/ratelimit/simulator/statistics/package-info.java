/** What a replay has shown: outcomes, times and keys of each policy, in memory that does not grow with the log. */
@NullMarked
package dev.ratelimit.simulator.statistics;

import org.jspecify.annotations.NullMarked;
