/** Text of logs, as readers may see it. */
@NullMarked
package dev.ratelimit.simulator.text;

import org.jspecify.annotations.NullMarked;
