/** What is replayed: requests as access logs have recorded them, read line by line, in the order of their times. */
@NullMarked
package dev.ratelimit.simulator.traffic;

import org.jspecify.annotations.NullMarked;
