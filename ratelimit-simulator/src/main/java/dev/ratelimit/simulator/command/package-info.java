/** The command line: options, messages and exit codes. */
@NullMarked
package dev.ratelimit.simulator.command;

import org.jspecify.annotations.NullMarked;
