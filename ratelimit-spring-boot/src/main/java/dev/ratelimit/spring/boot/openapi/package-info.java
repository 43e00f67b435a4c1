/** Refusals in the description of the API. */
@NullMarked
package dev.ratelimit.spring.boot.openapi;

import org.jspecify.annotations.NullMarked;
