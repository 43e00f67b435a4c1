/** What an application has recorded of its requests: which policies there were, and what requests asked them for. */
@NullMarked
package dev.ratelimit.simulator.recording;

import org.jspecify.annotations.NullMarked;
