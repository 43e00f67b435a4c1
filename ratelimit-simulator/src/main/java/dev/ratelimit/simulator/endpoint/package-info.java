/** Where requests lead to: endpoints from a list of patterns, or those of a recording. */
@NullMarked
package dev.ratelimit.simulator.endpoint;

import org.jspecify.annotations.NullMarked;
