/** The bytes of logs: their lines, and compressed files. */
@NullMarked
package dev.ratelimit.simulator.input;

import org.jspecify.annotations.NullMarked;
