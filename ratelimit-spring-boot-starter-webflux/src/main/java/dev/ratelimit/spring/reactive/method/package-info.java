/** Calls of limited methods in a reactive chain, and what refused calls answer. */
@NullMarked
package dev.ratelimit.spring.reactive.method;

import org.jspecify.annotations.NullMarked;
