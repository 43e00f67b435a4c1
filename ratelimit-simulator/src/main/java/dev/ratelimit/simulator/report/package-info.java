/** The report of a replay: one HTML file that needs nothing else. */
@NullMarked
package dev.ratelimit.simulator.report;

import org.jspecify.annotations.NullMarked;
