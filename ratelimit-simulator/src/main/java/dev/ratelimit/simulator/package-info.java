/** Replays recorded traffic through the limits of a configuration, for tests and on the command line. */
@NullMarked
package dev.ratelimit.simulator;

import org.jspecify.annotations.NullMarked;
