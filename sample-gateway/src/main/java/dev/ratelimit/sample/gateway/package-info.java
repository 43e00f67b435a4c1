/** A small gateway whose routes are limited. */
@NullMarked
package dev.ratelimit.sample.gateway;

import org.jspecify.annotations.NullMarked;
