/** Runs the benchmarks in rounds, and creates tables, charts and a verdict from the measurements. */
@NullMarked
package dev.ratelimit.benchmarks.report;

import org.jspecify.annotations.NullMarked;
