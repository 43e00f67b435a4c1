/** Where requests lead to: endpoints from a list of patterns or a description of an API, or learned from the paths. */
@NullMarked
package dev.ratelimit.simulator.endpoint;

import org.jspecify.annotations.NullMarked;
