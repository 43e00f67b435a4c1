/** What WebFlux applications use of the rate limits in addition to {@code dev.ratelimit.spring}. */
@NullMarked
package dev.ratelimit.spring.reactive;

import org.jspecify.annotations.NullMarked;
