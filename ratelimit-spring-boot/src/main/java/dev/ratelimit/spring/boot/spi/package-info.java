/** What optional parts of the starter offer to each other and to the wiring; interfaces only. */
@NullMarked
package dev.ratelimit.spring.boot.spi;

import org.jspecify.annotations.NullMarked;
