/** The command line: options, progress, messages and exit codes. */
@NullMarked
package dev.ratelimit.simulator.command;

import org.jspecify.annotations.NullMarked;
