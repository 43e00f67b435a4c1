/** What a decision costs: benchmarks of the hot path, against the hardware's floor and against others. */
@NullMarked
package dev.ratelimit.benchmarks;

import org.jspecify.annotations.NullMarked;
