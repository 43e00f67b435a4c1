/** Meters and observations of decisions and stores. */
@NullMarked
package dev.ratelimit.spring.boot.metrics;

import org.jspecify.annotations.NullMarked;
