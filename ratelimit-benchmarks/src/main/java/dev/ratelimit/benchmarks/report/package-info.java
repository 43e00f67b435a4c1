/** Runs the benchmarks in rounds, and makes tables, charts and a verdict of what they measured. */
@NullMarked
package dev.ratelimit.benchmarks.report;

import org.jspecify.annotations.NullMarked;
