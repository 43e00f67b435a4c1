/** The actuator endpoint {@code ratelimits}. */
@NullMarked
package dev.ratelimit.spring.boot.actuate;

import org.jspecify.annotations.NullMarked;
