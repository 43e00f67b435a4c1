/** The cost of decisions: benchmarks of the hot path, compared with the hardware's floor and with other libraries. */
@NullMarked
package dev.ratelimit.benchmarks;

import org.jspecify.annotations.NullMarked;
